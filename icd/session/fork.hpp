// What the child of a fork does not have.
#pragma once

namespace fairgv::icd {

/// In the child of a fork: lets go of every object that the parent has made, without telling anybody. Only the forking
/// thread exists there, so locks that others held stay locked, and nothing old is touched. Defined above all objects
/// (icd/fork.cpp).
void forget_objects_in_child();

}  // namespace fairgv::icd
