"""Steps of training in JAX. All numbers are small integers, so that the results do not depend on the algorithms that
XLA chooses by their time."""

from common import absent, need

jax = need("jax")
try:
    device = jax.devices("cuda")[0]
except RuntimeError as error:
    # Without the plug-in XLA does not know the platform; what it says of a device that fails is an error.
    if "Unknown backend" in str(error):
        absent("jax is built without CUDA")
    raise
import jax.numpy as jnp


@jax.jit
def step(weights, values):
    def loss(weights):
        hidden = jnp.maximum(values @ weights, 0)
        return hidden.sum()

    found, gradient = jax.value_and_grad(loss)(weights)
    return weights - jnp.sign(gradient), found


print(device.platform)
values = (jnp.arange(64 * 32) % 5 - 2).reshape(64, 32).astype(jnp.float32)
weights = (jnp.arange(32 * 16) % 7 - 3).reshape(32, 16).astype(jnp.float32)
for number in range(4):
    weights, found = step(weights, values)
    print(f"step {number}: {float(found)}")
print([float(value) for value in weights.sum(axis=0)])
print([int(value) for value in jnp.sort(jnp.arange(1000) * 7919 % 1009)[:10]])
