/* Conjugate gradients on the 27-point Poisson matrix of an N^3 grid, in CSR form: enter/exit data
   on the members of structs, update, and dot products by reduction. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct {
    unsigned int num_rows;
    unsigned int nnz;
    unsigned int *row_offsets;
    unsigned int *cols;
    double *coefs;
} matrix;

typedef struct {
    unsigned int n;
    double *coefs;
} vector;

static void allocate_matrix(matrix *A, int N)
{
    unsigned int num_rows = (N + 1) * (N + 1) * (N + 1);
    unsigned int nnz = 27 * num_rows;
    A->num_rows = num_rows;
    A->row_offsets = malloc((num_rows + 1) * sizeof(unsigned int));
    A->cols = malloc(nnz * sizeof(unsigned int));
    A->coefs = malloc(nnz * sizeof(double));

    int offsets[27];
    double coefs[27];
    int zstride = N * N, ystride = N, i = 0;
    for (int z = -1; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++) {
                offsets[i] = zstride * z + ystride * y + x;
                coefs[i] = x == 0 && y == 0 && z == 0 ? 27 : -1;
                i++;
            }

    nnz = 0;
    for (unsigned int row = 0; row < num_rows; row++) {
        A->row_offsets[row] = nnz;
        for (int j = 0; j < 27; j++) {
            int n = (int)row + offsets[j];
            if (n >= 0 && n < (int)num_rows) {
                A->cols[nnz] = n;
                A->coefs[nnz] = coefs[j];
                nnz++;
            }
        }
    }
    A->row_offsets[num_rows] = nnz;
    A->nnz = nnz;
#pragma acc enter data copyin(A[0:1])
#pragma acc enter data copyin(A->row_offsets[:num_rows+1], A->cols[:nnz], A->coefs[:nnz])
}

static void free_matrix(matrix *A)
{
    unsigned int *row_offsets = A->row_offsets;
    unsigned int *cols = A->cols;
    double *coefs = A->coefs;
#pragma acc exit data delete(A->row_offsets, A->cols, A->coefs)
#pragma acc exit data delete(A[0:1])
    free(row_offsets);
    free(cols);
    free(coefs);
}

static void allocate_vector(vector *v, unsigned int n)
{
    v->n = n;
    v->coefs = malloc(n * sizeof(double));
#pragma acc enter data copyin(v[0:1]) create(v->coefs[:n])
}

static void free_vector(vector *v)
{
    double *coefs = v->coefs;
#pragma acc exit data delete(v->coefs, v[0:1])
    free(coefs);
}

static void initialize_vector(vector *v, double value)
{
    for (unsigned int i = 0; i < v->n; i++)
        v->coefs[i] = value;
#pragma acc update device(v->coefs[:v->n])
}

static double dot(const vector *x, const vector *y)
{
    double sum = 0;
    unsigned int n = x->n;
    double *xcoefs = x->coefs;
    double *ycoefs = y->coefs;
#pragma acc parallel loop reduction(+:sum) present(xcoefs, ycoefs)
    for (unsigned int i = 0; i < n; i++)
        sum += xcoefs[i] * ycoefs[i];
    return sum;
}

static void waxpby(double alpha, const vector *x, double beta, const vector *y, const vector *w)
{
    unsigned int n = x->n;
    double *xcoefs = x->coefs;
    double *ycoefs = y->coefs;
    double *wcoefs = w->coefs;
#pragma acc parallel loop independent present(xcoefs, ycoefs, wcoefs)
    for (unsigned int i = 0; i < n; i++)
        wcoefs[i] = alpha * xcoefs[i] + beta * ycoefs[i];
}

static void matvec(const matrix *A, const vector *x, const vector *y)
{
    unsigned int num_rows = A->num_rows;
    unsigned int *restrict row_offsets = A->row_offsets;
    unsigned int *restrict cols = A->cols;
    double *restrict Acoefs = A->coefs;
    double *restrict xcoefs = x->coefs;
    double *restrict ycoefs = y->coefs;
#pragma acc parallel loop present(row_offsets, cols, Acoefs, xcoefs, ycoefs)
    for (unsigned int i = 0; i < num_rows; i++) {
        double sum = 0;
        unsigned int row_start = row_offsets[i];
        unsigned int row_end = row_offsets[i + 1];
#pragma acc loop reduction(+:sum)
        for (unsigned int j = row_start; j < row_end; j++) {
            unsigned int Acol = cols[j];
            double Acoef = Acoefs[j];
            double xcoef = xcoefs[Acol];
            sum += Acoef * xcoef;
        }
        ycoefs[i] = sum;
    }
}

int main(int argc, char **argv)
{
    int N = argc > 1 ? atoi(argv[1]) : 20;
    const int max_iterations = 100;
    const double tolerance = 1e-6;
    vector x, b, r, p, Ap;
    matrix A;

    allocate_matrix(&A, N);
    allocate_vector(&x, A.num_rows);
    allocate_vector(&b, A.num_rows);
    allocate_vector(&r, A.num_rows);
    allocate_vector(&p, A.num_rows);
    allocate_vector(&Ap, A.num_rows);
    printf("cg: rows %u, nnz %u\n", A.num_rows, A.nnz);

    initialize_vector(&x, 100000);
    initialize_vector(&b, 1);

    waxpby(1.0, &x, 0.0, &x, &p);
    matvec(&A, &p, &Ap);
    waxpby(1.0, &b, -1.0, &Ap, &r);
    double rtrans = dot(&r, &r);
    double normr = sqrt(rtrans);

    int iteration = 0;
    do {
        if (iteration == 0) {
            waxpby(1.0, &r, 0.0, &r, &p);
        } else {
            double old = rtrans;
            rtrans = dot(&r, &r);
            double beta = rtrans / old;
            waxpby(1.0, &r, beta, &p, &p);
        }
        normr = sqrt(rtrans);
        matvec(&A, &p, &Ap);
        double denominator = dot(&Ap, &p);
        double alpha = rtrans / denominator;
        waxpby(1.0, &x, alpha, &p, &x);
        waxpby(1.0, &r, -alpha, &Ap, &r);
        if (iteration % 10 == 0)
            printf("  iteration %d, residual %.1e\n", iteration, normr);
        iteration++;
    } while (iteration < max_iterations && normr > tolerance);

    /* the solution must satisfy A x = b, computed on the host */
#pragma acc update self(x.coefs[:x.n])
    double worst = 0.0;
    for (unsigned int i = 0; i < A.num_rows; i++) {
        double sum = 0.0;
        for (unsigned int j = A.row_offsets[i]; j < A.row_offsets[i + 1]; j++)
            sum += A.coefs[j] * x.coefs[A.cols[j]];
        worst = fmax(worst, fabs(sum - b.coefs[i]));
    }
    printf("cg: %d iterations, A x = b %s\n", iteration, worst < 1e-5 ? "holds" : "FAILS");

    free_vector(&x);
    free_vector(&b);
    free_vector(&r);
    free_vector(&p);
    free_vector(&Ap);
    free_matrix(&A);
    return worst >= 1e-5;
}
