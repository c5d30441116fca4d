#include "tools/fairgv/doctor/checks/checks.hpp"

namespace fairgv::tools::doctor {
namespace {

constexpr Check kChecks[] = {
    check_front_end,       check_drivers_open,     check_drivers_once,    check_worker_drivers,
    check_shared_hardware, check_vendor_variables, check_further_drivers, check_loader,
    check_preload,         check_tenant_variables, check_device_files,    check_processor,
    check_socket_folder,   check_daemon,           check_configuration,   check_descriptors,
    check_locked_memory,   check_address_space,    check_core_files,      check_cores,
    check_shared_memory,   check_overcommit,       check_memory_group,    check_huge_pages,
    check_kernel_version,  check_seccomp,          check_user_namespaces, check_schedstat,
    check_promises,        check_direct,
};

}  // namespace

std::string Examination::process() const {
  return "/proc/" + (daemon.answers() && daemon.pid > 0 ? std::to_string(daemon.pid) : "self");
}

Findings examine(const Examination& examination) {
  Findings all;
  for (const Check check : kChecks) {
    for (Finding& finding : check(examination)) all.push_back(std::move(finding));
  }
  return all;
}

}  // namespace fairgv::tools::doctor
