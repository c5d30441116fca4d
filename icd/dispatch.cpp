#include "icd/api/api.hpp"
#include "icd/objects/object.hpp"

namespace fairgv::icd {
namespace {

cl_icd_dispatch make_table() {
  cl_icd_dispatch table{};
  add_unserved_entry_points(table);
#define FAIRGV_FILL(name) table.name = name;
  FAIRGV_SERVED_ENTRY_POINTS(FAIRGV_FILL)
#undef FAIRGV_FILL
  return table;
}

}  // namespace

const cl_icd_dispatch& dispatch_table() {
  static const cl_icd_dispatch table = make_table();
  return table;
}

}  // namespace fairgv::icd
