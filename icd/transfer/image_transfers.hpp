// Sending reads, writes and maps of images. Boxes travel through staging memory without gaps; a mapping has
// the image's own pitches. The callers (api/image_transfer.cpp, api/transfer.cpp) have checked the arguments.
#pragma once

#include "icd/api/entry.hpp"
#include "icd/memory/host_region.hpp"
#include "icd/memory/memory.hpp"
#include "icd/transfer/transfer_commands.hpp"

namespace fairgv::icd {

/// Device to host. Returns the result of the entry point.
cl_int read_image_box(const TransferRequest& request, const Memory& image, const ImageBox& box,
                      const HostRegion& to);

/// Host to device.
cl_int write_image_box(const TransferRequest& request, const Memory& image, const ImageBox& box,
                       const HostRegion& from);

/// clEnqueueMapImage. Rows and slices of the mapping are as far apart as the image says.
Outcome<void*> map_image_box(const TransferRequest& request, Memory& image, cl_map_flags flags,
                             const ImageBox& box);

/// clEnqueueUnmapMemObject of an image.
cl_int unmap_image_box(const TransferRequest& request, Memory& image, const void* pointer);

}  // namespace fairgv::icd
