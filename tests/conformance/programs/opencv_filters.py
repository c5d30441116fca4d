"""Filters a picture by OpenCV on the host and in OpenCL, and compares. It must not fall back to the host in silence."""

import os
import sys

os.environ.setdefault("OPENCV_OPENCL_DEVICE", ":CPU:")  # read once; by itself OpenCV looks for a GPU
import cv2
import numpy

picture = numpy.random.default_rng(7).integers(0, 256, (360, 480), dtype=numpy.uint8)
STEPS = {
    "blur": lambda each: cv2.GaussianBlur(each, (9, 9), 2.5),
    "median": lambda each: cv2.medianBlur(each, 3),
    "edges": lambda each: cv2.Canny(each, 60, 120),
    "resized": lambda each: cv2.resize(each, (200, 150), interpolation=cv2.INTER_LINEAR),
    "opened": lambda each: cv2.morphologyEx(each, cv2.MORPH_OPEN, numpy.ones((5, 5), numpy.uint8)),
    "threshold": lambda each: cv2.threshold(each, 127, 255, cv2.THRESH_BINARY)[1],
}

cv2.ocl.setUseOpenCL(True)
if not cv2.ocl.haveOpenCL() or not cv2.ocl.useOpenCL():
    sys.exit("OpenCV finds no OpenCL device")
for name, step in STEPS.items():
    cv2.ocl.setUseOpenCL(False)
    expected = step(picture).astype(int)
    cv2.ocl.setUseOpenCL(True)
    found = step(cv2.UMat(picture)).get().astype(int)
    if not cv2.ocl.useOpenCL():
        sys.exit(f"{name}: OpenCV gave up OpenCL")
    # Rounding may differ by one step of brightness; a shifted edge may not occur often.
    far = numpy.count_nonzero(numpy.abs(expected - found) > 1)
    print(name, "agrees" if far <= picture.size // 1000 else f"differs in {far} places")
    if far > picture.size // 1000:
        sys.exit(1)
