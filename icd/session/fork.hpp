// Cleaning up in the child of a fork.
#pragma once

namespace fairgv::icd {

/// In the child of a fork: drops every object that the parent has made, without telling the worker. Only the
/// forking thread exists there, so locks that other threads held stay locked, and no old object is touched.
/// Defined above all objects (icd/fork.cpp).
void forget_objects_in_child();

}  // namespace fairgv::icd
