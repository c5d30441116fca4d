#include "runtime/vgpu/journal/shown.hpp"

#include "runtime/wire/call_names.hpp"

namespace fairgv::vgpu {

session::JournalReport shown(const Journal& journal) {
  session::JournalReport report{journal.bytes(), journal.gave_up(), 0, {}};
  std::size_t needs = 0;
  for (const auto& record : journal.records()) {
    needs += record->needs.size();
    if (report.calls.size() == session::kMostReportedCalls || needs > session::kMostReportedNeeds) {
      ++report.left_out;
      continue;
    }
    session::JournalReport::Call call{record->number,         std::string(wire::call_name(record->opcode)),
                                      record->object.index(), record->object.generation(),
                                      record->call.size(),    {},
                                      record->released != 0};
    for (const auto& need : record->needs) call.needs.push_back(need->number);
    report.calls.push_back(std::move(call));
  }
  return report;
}

}  // namespace fairgv::vgpu
