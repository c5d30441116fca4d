// Zero-terminated lists of names and values, as several creating calls take them. Pure; any thread.
#pragma once

#include <set>
#include <vector>

#include "icd/cl.hpp"

namespace fairgv::icd {

/// Reads a property list (null: empty). `accept(name, value)` returns CL_SUCCESS or the error for a property;
/// `duplicate_error` is for a name that appears twice. `copy` receives the list with its final 0; nothing for
/// a null list.
template <class Element, class Accept>
cl_int read_properties(const Element* list, cl_int duplicate_error, std::vector<Element>& copy,
                       Accept&& accept) {
  if (list == nullptr) return CL_SUCCESS;
  std::set<Element> seen;
  for (; *list != 0; list += 2) {
    if (!seen.insert(list[0]).second) return duplicate_error;
    const cl_int error = accept(list[0], list[1]);
    if (error != CL_SUCCESS) return error;
    copy.insert(copy.end(), list, list + 2);
  }
  copy.push_back(0);
  return CL_SUCCESS;
}

/// The properties of a memory object: OpenCL 3.0 itself defines none, so any property is CL_INVALID_PROPERTY.
/// `copy` is as above.
inline cl_int read_no_properties(const cl_mem_properties* list, std::vector<cl_mem_properties>& copy) {
  return read_properties(list, CL_INVALID_PROPERTY, copy,
                         [](cl_mem_properties, cl_mem_properties) { return CL_INVALID_PROPERTY; });
}

}  // namespace fairgv::icd
