/* Reductions over one long array; the result goes to host memory. */

void sum_f32(long n, const float *restrict x, float *restrict result)
{
    float sum = 0.0f;
#pragma acc parallel loop reduction(+:sum) present(x[0:n])
    for (long i = 0; i < n; i++)
        sum += x[i];
    *result = sum;
}

void max_f32(long n, const float *restrict x, float *restrict result)
{
    float largest = x[0];
#pragma acc parallel loop reduction(max:largest) present(x[0:n])
    for (long i = 0; i < n; i++)
        largest = x[i] > largest ? x[i] : largest;
    *result = largest;
}

void dot_f32(long n, const float *restrict x, const float *restrict y, float *restrict result)
{
    float sum = 0.0f;
#pragma acc parallel loop reduction(+:sum) present(x[0:n], y[0:n])
    for (long i = 0; i < n; i++)
        sum += x[i] * y[i];
    *result = sum;
}
