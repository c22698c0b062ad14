/* Products of matrices in structures, whose lengths are members too. */
#include <stdio.h>
#include <stdlib.h>
struct matrix { int rows, cols; float *data; };
static void product(struct matrix *a, struct matrix *b, struct matrix *c)
{
#pragma acc parallel loop collapse(2) present(a[0:1], b[0:1], c[0:1], a->data[0:a->rows*a->cols], b->data[0:b->rows*b->cols], c->data[0:c->rows*c->cols])
    for (int i = 0; i < c->rows; i++)
        for (int j = 0; j < c->cols; j++) {
            float sum = 0.0f;
            for (int k = 0; k < a->cols; k++)
                sum += a->data[i * a->cols + k] * b->data[k * b->cols + j];
            c->data[i * c->cols + j] = sum;
        }
}
static void by_value(struct matrix a, struct matrix b, struct matrix c)
{
#pragma acc parallel loop collapse(2) copyin(a.data[0:a.rows*a.cols], b.data[0:b.rows*b.cols]) copyout(c.data[0:c.rows*c.cols])
    for (int i = 0; i < c.rows; i++)
        for (int j = 0; j < c.cols; j++) {
            float sum = 0.0f;
            for (int k = 0; k < a.cols; k++)
                sum += a.data[i * a.cols + k] * b.data[k * b.cols + j];
            c.data[i * c.cols + j] = sum;
        }
}
static struct matrix make(int r, int c, int seed)
{
    struct matrix m = {r, c, malloc(sizeof(float) * r * c)};
    for (int i = 0; i < r * c; i++) m.data[i] = (i * 7 + seed) % 9 - 4;
    return m;
}
int main(void)
{
    int wrong = 0;
    for (int t = 0; t < 2; t++) {
        int m = 37, n = t ? 32 : 41, p = 53;
        struct matrix a = make(m, n, 1), b = make(n, p, 3), c = make(m, p, 0);
        if (t == 0) {
#pragma acc enter data copyin(a, b, c, a.data[0:m*n], b.data[0:n*p], c.data[0:m*p])
            product(&a, &b, &c);
#pragma acc exit data copyout(c.data[0:m*p]) delete(a.data[0:m*n], b.data[0:n*p])
#pragma acc exit data delete(a, b, c)
        } else
            by_value(a, b, c);
        for (int i = 0; i < m; i++)
            for (int j = 0; j < p; j++) {
                float s = 0;
                for (int k = 0; k < n; k++) s += a.data[i * n + k] * b.data[k * p + j];
                wrong += s != c.data[i * p + j];
            }
    }
    printf("%d %s\n", wrong, wrong ? "failed" : "right");
    return wrong != 0;
}
