// What a step computes between its products of matrices, and its softmaxes. Numbers are f32, tensors lie row
// by row. The functions of kernels.rs say what each computes; they compute the same in tensors where there is no card.

#define FOR_EACH(i, count) for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (count); i += gridDim.x * blockDim.x)

__device__ inline float sigmoid(float x) { return 1.0f / (1.0f + expf(-x)); }

__device__ inline float sum_of_warp(float x) {
    for (int k = 16; k > 0; k /= 2) x += __shfl_xor_sync(0xffffffffu, x, k);
    return x;
}

__device__ inline float greatest_of_warp(float x) {
    for (int k = 16; k > 0; k /= 2) x = fmaxf(x, __shfl_xor_sync(0xffffffffu, x, k));
    return x;
}

// Over a block of 256 threads; every thread gets the result.
__device__ float over_block(float x, bool sum) {
    __shared__ float of_warps[8];
    x = sum ? sum_of_warp(x) : greatest_of_warp(x);
    if (threadIdx.x % 32 == 0) of_warps[threadIdx.x / 32] = x;
    __syncthreads();
    float all = of_warps[0];
    for (int k = 1; k < 8; k++) all = sum ? all + of_warps[k] : fmaxf(all, of_warps[k]);
    __syncthreads();
    return all;
}

extern "C" __global__ void gates(int b, int n, const float* x, const float* a, const float* c, const float* s, float* out) {
    FOR_EACH(i, b * n) {
        int row = i / n, k = i % n;
        const float *xr = x + (size_t)row * 3 * n, *ar = a + (size_t)row * 2 * n;
        float cz = 0.0f, cr = 0.0f;
        if (c) { cz = c[(size_t)row * 3 * n + k]; cr = c[(size_t)row * 3 * n + n + k]; }
        float r = sigmoid(xr[n + k] + ar[n + k] + cr);
        out[i] = sigmoid(xr[k] + ar[k] + cz);
        out[b * n + i] = r;
        out[2 * b * n + i] = r * s[i];
    }
}

extern "C" __global__ void propose(int b, int n, const float* x, const float* p, const float* c, const float* gates, const float* s, const float* mask, float* out) {
    FOR_EACH(i, b * n) {
        int row = i / n, k = i % n;
        size_t at = (size_t)row * 3 * n + 2 * n + k;
        float proposal = tanhf(x[at] + p[i] + (c ? c[at] : 0.0f));
        float keep = mask ? mask[row] : 1.0f;
        out[i] = s[i] + keep * gates[i] * (proposal - s[i]);
        out[b * n + i] = proposal;
    }
}

extern "C" __global__ void propose_back(int b, int n, const float* d0, const float* d1, const float* d2, const float* d3, const float* gates, const float* proposal, const float* s, const float* mask, float* out) {
    FOR_EACH(i, b * n) {
        float d = (d0 ? d0[i] : 0.0f) + (d1 ? d1[i] : 0.0f) + (d2 ? d2[i] : 0.0f) + (d3 ? d3[i] : 0.0f);
        float keep = mask ? mask[i / n] : 1.0f, z = gates[i], t = proposal[i];
        out[i] = d * keep * (t - s[i]) * z * (1.0f - z);
        out[b * n + i] = d * keep * z * (1.0f - t * t);
        out[2 * b * n + i] = d * (1.0f - keep * z);
    }
}

extern "C" __global__ void gates_back(int b, int n, const float* drs, const float* back, const float* gates, const float* s, float* out) {
    FOR_EACH(i, b * n) {
        int row = i / n, k = i % n;
        float* to = out + (size_t)row * 3 * n;
        float r = gates[b * n + i];
        to[k] = back[i];
        to[n + k] = drs[i] * s[i] * r * (1.0f - r);
        to[2 * n + k] = back[b * n + i];
        out[3 * b * n + i] = back[2 * b * n + i] + drs[i] * r;
    }
}

// A block of 256 threads a row; t_x floats of shared memory.
extern "C" __global__ void look(int t_x, int n, const float* keys, const float* query, const float* v, const float* mask, float* alpha) {
    extern __shared__ float e[];
    int row = blockIdx.x, lane = threadIdx.x % 32;
    const float* q = query + (size_t)row * n;
    for (int j = threadIdx.x / 32; j < t_x; j += 8) {
        const float* key = keys + ((size_t)row * t_x + j) * n;
        float sum = 0.0f;
        for (int u = lane; u < n; u += 32) sum += v[u] * tanhf(key[u] + q[u]);
        sum = sum_of_warp(sum);
        if (lane == 0) e[j] = mask[(size_t)row * t_x + j] > 0.0f ? sum : -1e30f;
    }
    __syncthreads();
    float most = -1e30f, all = 0.0f;
    for (int j = threadIdx.x; j < t_x; j += 256) most = fmaxf(most, e[j]);
    most = over_block(most, false);
    for (int j = threadIdx.x; j < t_x; j += 256) all += expf(e[j] - most);
    all = over_block(all, true);
    for (int j = threadIdx.x; j < t_x; j += 256) alpha[(size_t)row * t_x + j] = expf(e[j] - most) / all;
}

// The same grid; de [b, t_x] and behind it dq [b, n].
extern "C" __global__ void look_back(int b, int t_x, int n, const float* keys, const float* query, const float* v, const float* alpha, const float* d0, const float* d1, float* out) {
    extern __shared__ float de[];
    int row = blockIdx.x;
    const float *a = alpha + (size_t)row * t_x, *q = query + (size_t)row * n;
    float dot = 0.0f;
    for (int j = threadIdx.x; j < t_x; j += 256) {
        size_t at = (size_t)row * t_x + j;
        de[j] = d0[at] + d1[at];
        dot += a[j] * de[j];
    }
    dot = over_block(dot, true);
    for (int j = threadIdx.x; j < t_x; j += 256) {
        de[j] = a[j] * (de[j] - dot);
        out[(size_t)row * t_x + j] = de[j];
    }
    __syncthreads();
    float* dq = out + (size_t)b * t_x + (size_t)row * n;
    for (int u = threadIdx.x; u < n; u += 256) {
        float sum = 0.0f;
        for (int j = 0; j < t_x; j++) {
            float t = tanhf(keys[((size_t)row * t_x + j) * n + u] + q[u]);
            sum += de[j] * (1.0f - t * t);
        }
        dq[u] = v[u] * sum;
    }
}

// A block a source position; the gradient of the keys [b, t_x, n] and behind it what each adds to that of v.
extern "C" __global__ void look_keys(int t_y, int b, int t_x, int n, const float* keys, const float* queries, const float* v, const float* de, float* out) {
    int row = blockIdx.x / t_x;
    size_t at = (size_t)blockIdx.x * n, count = (size_t)b * t_x * n;
    for (int u = threadIdx.x; u < n; u += blockDim.x) {
        float key = keys[at + u], sum = 0.0f, of_v = 0.0f;
        for (int i = 0; i < t_y; i++) {
            float d = de[(size_t)i * b * t_x + blockIdx.x];
            float t = tanhf(key + queries[((size_t)i * b + row) * n + u]);
            sum += d * (1.0f - t * t);
            of_v += d * t;
        }
        out[at + u] = v[u] * sum;
        out[count + at + u] = of_v;
    }
}

// Adds rows to those of the ids; out begins as zeros.
extern "C" __global__ void scatter(int count, int m, int rows, const unsigned* ids, const float* d, float* out) {
    FOR_EACH(i, count * m) {
        unsigned row = ids[i / m];
        if (row < rows) atomicAdd(out + (size_t)row * m + i % m, d[i]);
    }
}

// A block of 256 threads a row of o = logits + bias.
extern "C" __global__ void cross_entropy(int rows, int k_y, const float* logits, const float* bias, const unsigned* y, float* out) {
    int row = blockIdx.x;
    const float* o = logits + (size_t)row * k_y;
    float most = -1e30f, all = 0.0f, sum = 0.0f;
    for (int k = threadIdx.x; k < k_y; k += 256) most = fmaxf(most, o[k] + bias[k]);
    most = over_block(most, false);
    for (int k = threadIdx.x; k < k_y; k += 256) {
        all += expf(o[k] + bias[k] - most);
        sum += o[k] + bias[k];
    }
    float log_sum = most + logf(over_block(all, true));
    sum = over_block(sum, true);
    if (threadIdx.x == 0) {
        unsigned word = min(y[row], (unsigned)k_y - 1);
        out[row] = log_sum - o[word] - bias[word];
        out[rows + row] = log_sum;
        out[2 * rows + row] = sum / k_y;
    }
}

extern "C" __global__ void cross_entropy_back(int rows, int k_y, const float* logits, const float* bias, const unsigned* y, const float* found, const float* d, const float* epsilon, float* out) {
    int row = blockIdx.x;
    const float* o = logits + (size_t)row * k_y;
    float log_sum = found[rows + row], by = d[row], rest = *epsilon / k_y;
    for (int k = threadIdx.x; k < k_y; k += 256) {
        float p = expf(o[k] + bias[k] - log_sum);
        out[(size_t)row * k_y + k] = by * (p - rest - (k == y[row] ? 1.0f - *epsilon : 0.0f));
    }
}

extern "C" __global__ void cho_step(int b, int n, const float* x, const float* a, const float* c, const float* s, float* out) {
    FOR_EACH(i, b * n) {
        size_t at = (size_t)(i / n) * 3 * n + i % n;
        float z = sigmoid(x[at] + a[at] + c[at]), r = sigmoid(x[at + n] + a[at + n] + c[at + n]);
        float q = a[at + 2 * n] + c[at + 2 * n], t = tanhf(x[at + 2 * n] + r * q);
        out[i] = t + z * (s[i] - t);
        out[b * n + i] = z;
        out[2 * b * n + i] = r;
        out[3 * b * n + i] = q;
        out[4 * b * n + i] = t;
    }
}

// The gradient of x, [b, 3n], that of a and of c, and behind them the part of that of s' that skips the gates.
extern "C" __global__ void cho_step_back(int b, int n, const float* d0, const float* d1, const float* d2, const float* step, const float* s, float* out) {
    FOR_EACH(i, b * n) {
        size_t at = (size_t)(i / n) * 3 * n + i % n, count = (size_t)b * n;
        float d = (d0 ? d0[i] : 0.0f) + (d1 ? d1[i] : 0.0f) + (d2 ? d2[i] : 0.0f);
        float z = step[count + i], r = step[2 * count + i], q = step[3 * count + i], t = step[4 * count + i];
        float dz = d * (s[i] - t) * z * (1.0f - z), dp = d * (1.0f - z) * (1.0f - t * t), dr = dp * q * r * (1.0f - r);
        float *of_x = out + at, *of_a = out + 3 * count + at;
        of_x[0] = of_a[0] = dz;
        of_x[n] = of_a[n] = dr;
        of_x[2 * n] = dp;
        of_a[2 * n] = dp * r;
        out[6 * count + i] = d * z;
    }
}

// x has b rows or one.
extern "C" __global__ void lstm_step(int b, int n, int rows, const float* x, const float* p, const float* q, const float* h, const float* c, const float* mask, float* out) {
    FOR_EACH(i, b * n) {
        size_t at = (size_t)(i / n) * 4 * n + i % n, of_x = rows == 1 ? i % n : at, count = (size_t)b * n;
        float a[4];
        for (int k = 0; k < 4; k++) a[k] = x[of_x + k * n] + (p ? p[at + k * n] : 0.0f) + (q ? q[at + k * n] : 0.0f);
        float in = sigmoid(a[0]), f = sigmoid(a[1]), o = sigmoid(a[2]), g = tanhf(a[3]);
        float keep = mask ? mask[i / n] : 1.0f, cell = f * c[i] + in * g;
        out[i] = h[i] + keep * (o * tanhf(cell) - h[i]);
        out[count + i] = c[i] + keep * (cell - c[i]);
        out[2 * count + i] = in;
        out[3 * count + i] = f;
        out[4 * count + i] = o;
        out[5 * count + i] = g;
    }
}

// The gradient of what is read, [b, 4n], and behind it what the mask lets stay of that of h', and that of c'.
extern "C" __global__ void lstm_step_back(int b, int n, const float* d0, const float* d1, const float* d2, const float* d3, const float* dc, const float* step, const float* c, const float* mask, float* out) {
    FOR_EACH(i, b * n) {
        size_t at = (size_t)(i / n) * 4 * n + i % n, count = (size_t)b * n;
        float d = (d0 ? d0[i] : 0.0f) + (d1 ? d1[i] : 0.0f) + (d2 ? d2[i] : 0.0f) + (d3 ? d3[i] : 0.0f);
        float keep = mask ? mask[i / n] : 1.0f, of_c = dc ? dc[i] : 0.0f;
        float t = tanhf(step[count + i]), in = step[2 * count + i], f = step[3 * count + i], o = step[4 * count + i], g = step[5 * count + i];
        float cell = keep * (of_c + d * o * (1.0f - t * t));
        out[at] = cell * g * in * (1.0f - in);
        out[at + n] = cell * c[i] * f * (1.0f - f);
        out[at + 2 * n] = keep * d * t * o * (1.0f - o);
        out[at + 3 * n] = cell * in * (1.0f - g * g);
        out[4 * count + i] = (1.0f - keep) * d;
        out[5 * count + i] = (1.0f - keep) * of_c + cell * f;
    }
}

// A block of 256 threads a row. Writes alpha [b, t_x], the softmax before it is weighted by the distance from p, and p [b].
// Without `inner` (global attention) there is no p.
extern "C" __global__ void attend(int t_x, int n, int window, const float* e, const float* mask, const float* inner, const float* v, float* out) {
    extern __shared__ float shown[];
    int row = blockIdx.x, b = gridDim.x;
    size_t at = (size_t)row * t_x;
    float p = 0.0f;
    if (inner) {
        float score = 0.0f, length = 0.0f;
        for (int u = threadIdx.x; u < n; u += 256) score += v[u] * tanhf(inner[(size_t)row * n + u]);
        score = over_block(score, true);
        for (int j = threadIdx.x; j < t_x; j += 256) length += mask[at + j];
        p = over_block(length, true) * sigmoid(score);
    }
    float most = -1e30f, all = 0.0f;
    for (int j = threadIdx.x; j < t_x; j += 256) {
        bool in = mask[at + j] > 0.0f && (!inner || fabsf(j - p) <= window);
        shown[j] = in ? e[at + j] : -1e30f;
        most = fmaxf(most, shown[j]);
    }
    most = over_block(most, false);
    for (int j = threadIdx.x; j < t_x; j += 256) {
        shown[j] = shown[j] > -1e30f ? expf(shown[j] - most) : 0.0f;
        all += shown[j];
    }
    all = over_block(all, true);
    for (int j = threadIdx.x; j < t_x; j += 256) {
        float soft = shown[j] / all, far = (j - p) / window;
        out[at + j] = inner ? soft * expf(-2.0f * far * far) : soft;
        out[(size_t)b * t_x + at + j] = soft;
    }
    if (threadIdx.x == 0) out[2 * (size_t)b * t_x + row] = p;
}

// The same grid; the gradient of e [b, t_x], of v' tanh(inner) [b], and of inner [b, n].
extern "C" __global__ void attend_back(int t_x, int n, int window, const float* soft, const float* places, const float* mask, const float* inner, const float* v, const float* d0, const float* d1, float* out) {
    extern __shared__ float da[];
    int row = blockIdx.x, b = gridDim.x;
    size_t at = (size_t)row * t_x;
    float p = places[row], dot = 0.0f, dp = 0.0f, length = 0.0f;
    for (int j = threadIdx.x; j < t_x; j += 256) {
        float d = (d0 ? d0[at + j] : 0.0f) + (d1 ? d1[at + j] : 0.0f);
        if (inner) {
            float far = (j - p) / window;
            d *= expf(-2.0f * far * far);
            dp += d * soft[at + j] * 4.0f * far / window;
            length += mask[at + j];
        }
        da[j] = d;
        dot += soft[at + j] * d;
    }
    dot = over_block(dot, true);
    for (int j = threadIdx.x; j < t_x; j += 256) out[at + j] = soft[at + j] * (da[j] - dot);
    dp = over_block(dp, true);
    length = over_block(length, true);
    float of_score = inner ? dp * p * (1.0f - p / length) : 0.0f;
    if (threadIdx.x == 0) out[(size_t)b * t_x + row] = of_score;
    float* of_inner = out + (size_t)b * t_x + b + (size_t)row * n;
    for (int u = threadIdx.x; u < n; u += 256) {
        float t = inner ? tanhf(inner[(size_t)row * n + u]) : 0.0f;
        of_inner[u] = inner ? of_score * v[u] * (1.0f - t * t) : 0.0f;
    }
}
