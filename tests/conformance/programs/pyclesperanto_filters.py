"""Filters, a threshold and a count of objects by pyclesperanto, with known results."""

import numpy
import pyclesperanto as cle

picture = numpy.zeros((128, 128), numpy.float32)
for row, column in [(20, 30), (60, 90), (100, 40)]:
    picture[row - 4:row + 5, column - 4:column + 5] = 100
blurred = cle.pull(cle.gaussian_blur(picture, sigma_x=2, sigma_y=2))
assert abs(blurred.sum() - picture.sum()) < 0.01 * picture.sum()
assert blurred[20, 30] < 100 and blurred[20, 37] > 0
print("blur agrees")
labels = cle.pull(cle.connected_component_labeling(cle.greater_constant(picture, scalar=50)))
assert labels.max() == 3, labels.max()
print("objects:", int(labels.max()))
total = float(cle.sum_of_all_pixels(picture))
assert total == picture.sum(), total
print("sum agrees")
