// Textures and surfaces (PTX ISA, "Texture Instructions", "Surface Instructions"; CUDA Programming Guide, "Texture
// Fetching"). A handle is the address of a block; image_block.hpp declares the same in C++.
struct fgv_image {
  ulong address, row_bytes, slice_bytes;
  uint width, height, depth;
  uint texel_bytes, channels, format, flags;
  uint modes[3];
  uint border[4];
  uint levels;
  float level_bias, least_level, most_level;
};
typedef FAIRGV_AS const struct fgv_image* fgv_image;
#define FAIRGV_IMAGE(handle) ((fgv_image)(handle))

// The 32 bits of a channel of the texel at `at`; `format` is a ChannelFormat.
static uint fgv_channel(uint format, ulong at, uint channel) {
  const ulong at8 = at + channel, at16 = at + 2 * channel;
  switch (format) {
    case 1:
      return FAIRGV_AT(fgv_u8, at8);
    case 2:
      return (uint)(int)(char)FAIRGV_AT(fgv_u8, at8);
    case 3:
      return FAIRGV_AT(fgv_u16, at16);
    case 4:
      return (uint)(int)(short)FAIRGV_AT(fgv_u16, at16);
    case 5:
      return as_uint(fgv_f16_to_f32(FAIRGV_AT(fgv_u16, at16)));
    case 6:
      return as_uint((float)FAIRGV_AT(fgv_u8, at8) / 255.0f);
    case 7:
      return as_uint(fmax((float)(char)FAIRGV_AT(fgv_u8, at8) / 127.0f, -1.0f));
    case 8:
      return as_uint((float)FAIRGV_AT(fgv_u16, at16) / 65535.0f);
    case 9:
      return as_uint(fmax((float)(short)FAIRGV_AT(fgv_u16, at16) / 32767.0f, -1.0f));
    case 10: {
      const float c = (float)FAIRGV_AT(fgv_u8, at8) / 255.0f;
      if (channel == 3) return as_uint(c);
      return as_uint(c <= 0.04045f ? c / 12.92f : pow((c + 0.055f) / 1.055f, 2.4f));
    }
    default:
      return FAIRGV_AT(fgv_u32, at + 4 * channel);
  }
}

// Indices below 0 are of the border.
static uint4 fgv_texel(fgv_image t, int i, int j, int k) {
  if (i < 0 || j < 0 || k < 0) return (uint4)(t->border[0], t->border[1], t->border[2], t->border[3]);
  const ulong at = t->address + (uint)k * t->slice_bytes + (uint)j * t->row_bytes + (ulong)(uint)i * t->texel_bytes;
  const uint format = t->format, channels = t->channels;
  uint4 texel = (uint4)(fgv_channel(format, at, 0), 0, 0, 0);
  if (channels > 1) texel.y = fgv_channel(format, at, 1);
  if (channels > 2) texel.zw = (uint2)(fgv_channel(format, at, 2), fgv_channel(format, at, 3));
  return texel;
}

// An index anywhere to one inside [0, size), or -1 for the border. `mode` is an AddressMode.
static int fgv_inside(int i, int size, uint mode) {
  if (i >= 0 && i < size) return i;
  if (mode == 3) return -1;
  if (mode == 1) return i < 0 ? 0 : size - 1;
  const int period = mode == 2 ? 2 * size : size;
  const int rest = i % period;
  const int in_period = rest < 0 ? rest + period : rest;
  return in_period < size ? in_period : period - 1 - in_period;
}

// Along one dimension: the texel, and in between, the one behind it and its weight, in steps of 1/256.
struct fgv_axis {
  int first, second;
  float weight;
};
static struct fgv_axis fgv_along(fgv_image t, uint dimension, uint size, float x, bool between) {
  const uint mode = t->modes[dimension];
  if (t->flags & 1) {
    // Repetitions are taken off first: what is left loses nothing by the scaling.
    if (mode == 0) x -= floor(x);
    if (mode == 2) x -= 2.0f * floor(0.5f * x);
    x *= (float)size;
  }
  if (between) x -= 0.5f;
  // Further away all is the same, also for what is no number.
  x = fmin(fmax(x, -2.0f), 2.0f * (float)size + 2.0f);
  const float whole = floor(x);
  struct fgv_axis axis;
  axis.first = fgv_inside((int)whole, (int)size, mode);
  axis.second = between ? fgv_inside((int)whole + 1, (int)size, mode) : axis.first;
  axis.weight = between ? rint((x - whole) * 256.0f) * 0x1p-8f : 0.0f;
  return axis;
}

// What weighs nothing adds nothing, whatever it is.
static float4 fgv_weighed(fgv_image t, float weight, int i, int j, int k) {
  return weight != 0.0f ? weight * as_float4(fgv_texel(t, i, j, k)) : (float4)(0.0f);
}

// Point or linear filtering in `dimensions` dimensions. `slice`: where those are fewer than three.
static uint4 fgv_sample_level(fgv_image t, uint dimensions, int slice, float x, float y, float z) {
  const bool between = (t->flags & 2) != 0;
  const struct fgv_axis none = {0, 0, 0.0f};
  const struct fgv_axis across = {slice, slice, 0.0f};
  const struct fgv_axis a = fgv_along(t, 0, t->width, x, between);
  const struct fgv_axis b = dimensions > 1 ? fgv_along(t, 1, t->height, y, between) : none;
  const struct fgv_axis c = dimensions > 2 ? fgv_along(t, 2, t->depth, z, between) : across;
  if (!between) return fgv_texel(t, a.first, b.first, c.first);
  float4 sum = (float4)(0.0f);
  for (uint k = 0; k < (dimensions > 2 ? 2u : 1u); ++k) {
    for (uint j = 0; j < (dimensions > 1 ? 2u : 1u); ++j) {
      const float outer = (k ? c.weight : 1.0f - c.weight) * (j ? b.weight : 1.0f - b.weight);
      const int row = j ? b.second : b.first, plane = k ? c.second : c.first;
      sum += fgv_weighed(t, outer * (1.0f - a.weight), a.first, row, plane);
      sum += fgv_weighed(t, outer * a.weight, a.second, row, plane);
    }
  }
  return as_uint4(sum);
}

static float fgv_clamped_level(fgv_image t, float wished) {
  return fmin(fmax(wished + t->level_bias, t->least_level), t->most_level);
}
// image_block.hpp has the same.
static fgv_image fgv_nearest(ulong T, float wished) {
  const fgv_image t = FAIRGV_IMAGE(T);
  return t->levels == 1 ? t : t + 1 + (uint)floor(fgv_clamped_level(t, wished) + 0.5f);
}
// Of a texture of several levels. Apart: others never come here, and a sample is much code.
__attribute__((noinline)) static uint4 fgv_sample_levels(fgv_image t, float wished, uint dimensions, int slice,
                                                         float x, float y, float z) {
  fgv_image at = fgv_nearest((ulong)t, wished);
  float next = 0.0f;
  if (t->flags & 8) {
    const float steps = rint(fgv_clamped_level(t, wished) * 256.0f) * 0x1p-8f;
    at = t + 1 + (uint)steps;
    next = steps - floor(steps);
  }
  float4 sum = (float4)(0.0f);
  for (uint n = 0; n < 2; ++n) {
    const uint4 texel = fgv_sample_level(at + n, dimensions, slice, x, y, z);
    if (next == 0.0f) return texel;
    sum += (n ? next : 1.0f - next) * as_float4(texel);
  }
  return as_uint4(sum);
}
// Of the level that the instruction names; not `named`: it names none.
static uint4 fgv_sample(fgv_image t, bool named, float wished, uint dimensions, int slice, float x, float y, float z) {
  if (named ? t->levels != 1 : (t->flags & 4) != 0)
    return fgv_sample_levels(t, wished, dimensions, slice, x, y, z);
  return fgv_sample_level(t, dimensions, slice, x, y, z);
}

// The largest level, of which queries tell.
static fgv_image fgv_whole(ulong T) { return FAIRGV_IMAGE(T)->levels == 1 ? FAIRGV_IMAGE(T) : FAIRGV_IMAGE(T) + 1; }

// The level at which steps along x and y of the screen, in texels of the largest, are no longer than one.
static float fgv_level_of_steps(float3 x, float3 y) {
  return 0.5f * log2(fmax(x.x * x.x + x.y * x.y + x.z * x.z, y.x * y.x + y.y * y.y + y.z * y.z));
}
static float fgv_grad(ulong T, float3 x, float3 y) {
  const fgv_image t = fgv_whole(T);
  if (t->levels == 1) return 0.0f;
  const float3 size = (float3)((float)t->width, (float)t->height, (float)t->depth);
  return fgv_level_of_steps(x * size, y * size);
}

static int fgv_layer(fgv_image t, uint layer) { return (int)min(layer, t->depth - 1); }

static uint4 fgv_tex_1d(fgv_image t, bool named, float wished, float x) {
  return fgv_sample(t, named, wished, 1, 0, x, 0, 0);
}
static uint4 fgv_tex_2d(fgv_image t, bool named, float wished, float x, float y) {
  return fgv_sample(t, named, wished, 2, 0, x, y, 0);
}
static uint4 fgv_tex_3d(fgv_image t, bool named, float wished, float x, float y, float z) {
  return fgv_sample(t, named, wished, 3, 0, x, y, z);
}
static uint4 fgv_tex_a1d(fgv_image t, bool named, float wished, uint layer, float x) {
  return fgv_sample(t, named, wished, 1, fgv_layer(t, layer), x, 0, 0);
}
static uint4 fgv_tex_a2d(fgv_image t, bool named, float wished, uint layer, float x, float y) {
  return fgv_sample(t, named, wished, 2, fgv_layer(t, layer), x, y, 0);
}

// Coordinates that are integers name texels: nothing is filtered.
static uint4 fgv_at_1d(fgv_image t, int x) { return fgv_texel(t, fgv_inside(x, (int)t->width, t->modes[0]), 0, 0); }
static uint4 fgv_at_slice(fgv_image t, int x, int y, int slice) {
  return fgv_texel(t, fgv_inside(x, (int)t->width, t->modes[0]), fgv_inside(y, (int)t->height, t->modes[1]), slice);
}
static uint4 fgv_at_2d(fgv_image t, int x, int y) { return fgv_at_slice(t, x, y, 0); }
static uint4 fgv_at_3d(fgv_image t, int x, int y, int z) {
  return fgv_at_slice(t, x, y, fgv_inside(z, (int)t->depth, t->modes[2]));
}
static uint4 fgv_at_a1d(fgv_image t, uint layer, int x) {
  return fgv_texel(t, fgv_inside(x, (int)t->width, t->modes[0]), 0, fgv_layer(t, layer));
}
static uint4 fgv_at_a2d(fgv_image t, uint layer, int x, int y) { return fgv_at_slice(t, x, y, fgv_layer(t, layer)); }

// A direction to a face and a place on it (CUDA Programming Guide, "Cubemap Textures").
struct fgv_on_face {
  uint face;
  float u, v, m;  // the place is u / m, v / m, from -1 to 1
};
// Of the direction `way`, as the direction `p` has its face.
static struct fgv_on_face fgv_project(float3 p, float3 way) {
  const float ax = fabs(p.x), ay = fabs(p.y), az = fabs(p.z);
  struct fgv_on_face on;
  if (ax > ay && ax > az) {
    const bool low = !(p.x >= 0);
    on.face = low ? 1 : 0;
    on.m = low ? -way.x : way.x;
    on.u = low ? way.z : -way.z;
    on.v = -way.y;
  } else if (ay > az) {
    const bool low = !(p.y >= 0);
    on.face = low ? 3 : 2;
    on.m = low ? -way.y : way.y;
    on.u = way.x;
    on.v = low ? -way.z : way.z;
  } else {
    const bool low = !(p.z >= 0);
    on.face = low ? 5 : 4;
    on.m = low ? -way.z : way.z;
    on.u = low ? -way.x : way.x;
    on.v = -way.y;
  }
  return on;
}
static uint4 fgv_tex_acube(fgv_image t, bool named, float wished, uint layer, float x, float y, float z) {
  const struct fgv_on_face on = fgv_project((float3)(x, y, z), (float3)(x, y, z));
  const float scale = t->flags & 1 ? 0.5f : 0.5f * (float)t->width;
  const int slice = (int)(6 * min(layer, t->depth / 6 - 1) + on.face);
  return fgv_sample(t, named, wished, 2, slice, (on.u / on.m + 1.0f) * scale, (on.v / on.m + 1.0f) * scale, 0);
}
static uint4 fgv_tex_cube(fgv_image t, bool named, float wished, float x, float y, float z) {
  return fgv_tex_acube(t, named, wished, 0, x, y, z);
}
// The step on the face, in texels of the largest level, that a step of the direction makes.
static float3 fgv_face_step(fgv_image t, struct fgv_on_face on, float3 p, float3 step) {
  const struct fgv_on_face by = fgv_project(p, step);
  const float scale = 0.5f * (float)t->width / (on.m * on.m);
  return (float3)((by.u * on.m - on.u * by.m) * scale, (by.v * on.m - on.v * by.m) * scale, 0.0f);
}
static float fgv_grad_cube(ulong T, float3 p, float3 x, float3 y) {
  const fgv_image t = fgv_whole(T);
  if (t->levels == 1) return 0.0f;
  const struct fgv_on_face on = fgv_project(p, p);
  return fgv_level_of_steps(fgv_face_step(t, on, p, x), fgv_face_step(t, on, p, y));
}

// One channel of the four texels of a linear filter, counterclockwise from the lower left.
static uint4 fgv_tld4_2d(ulong T, uint channel, float x, float y) {
  const fgv_image t = FAIRGV_IMAGE(T);
  const struct fgv_axis a = fgv_along(t, 0, t->width, x, true);
  const struct fgv_axis b = fgv_along(t, 1, t->height, y, true);
  const uint4 low_left = fgv_texel(t, a.first, b.second, 0), low_right = fgv_texel(t, a.second, b.second, 0);
  const uint4 high_right = fgv_texel(t, a.second, b.first, 0), high_left = fgv_texel(t, a.first, b.first, 0);
  switch (channel) {
    case 0:
      return (uint4)(low_left.x, low_right.x, high_right.x, high_left.x);
    case 1:
      return (uint4)(low_left.y, low_right.y, high_right.y, high_left.y);
    case 2:
      return (uint4)(low_left.z, low_right.z, high_right.z, high_left.z);
    default:
      return (uint4)(low_left.w, low_right.w, high_right.w, high_left.w);
  }
}

// Where an access of `bytes` bytes to a surface is; x is in bytes. 0: it does not lie inside, nor could be moved there.
static ulong fgv_surface(ulong T, uint bytes, bool clamped, int x, int y, int z) {
  const fgv_image t = FAIRGV_IMAGE(T);
  const long last = (long)t->width * t->texel_bytes - bytes;
  if (last < 0) return 0;
  if (clamped) {
    x = (int)clamp((long)x, 0l, last);
    y = clamp(y, 0, (int)t->height - 1);
    z = clamp(z, 0, (int)t->depth - 1);
  } else if (x < 0 || x > last || (uint)y >= t->height || (uint)z >= t->depth) {
    return 0;
  }
  return t->address + (uint)z * t->slice_bytes + (uint)y * t->row_bytes + (uint)x;
}
