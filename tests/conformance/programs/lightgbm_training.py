"""Trains a classifier by LightGBM in OpenCL, and says how often it is right."""

import lightgbm
import numpy

random = numpy.random.default_rng(17)
features = random.normal(size=(4000, 8))
label = (features[:, 0] * features[:, 1] + features[:, 2] > 0).astype(int)
data = lightgbm.Dataset(features[:3000], label[:3000])
model = lightgbm.train({"objective": "binary", "device_type": "gpu", "gpu_use_dp": True, "num_threads": 2, "seed": 1,
                        "max_bin": 63, "verbosity": -1}, data, num_boost_round=40)
right = numpy.mean((model.predict(features[3000:]) > 0.5) == label[3000:])
assert right > 0.85, right
print(f"right: {right:.2f}")
