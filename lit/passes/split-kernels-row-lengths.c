// RUN: accopt %s --stop-before infer-routines | filecheck %s
// RUN: accopt %s --stop-before infer-routines --target=host | filecheck %s --check-prefix=OTHER
// RUN: accopt %s --target=nvptx --stop-before schedule-loops | filecheck %s --check-prefix=LANES

// Rows whose lengths are in an array: lanes share them, and the mean length says how many. A thread takes very short
// ones.
// CHECK-LABEL: @lengths
// CHECK:         acc.loop reduction
// CHECK:           } attributes {accx.why = "found independent: {{.*}}
// CHECK:         acc.loop reduction
// CHECK:           } attributes {{{.*}}accx.in_order
// CHECK:         acc.loop control(%j
// LANES-LABEL: @lengths
// LANES:         llvm.call @__accopt_mean_trip
// LANES:         arith.cmpi sle, %mean{{.*}}, %c4
// LANES:         acc.parallel {{.*}}vector_length(%c128
// LANES:         arith.cmpi sle, %mean{{.*}}, %c48
// LANES:         acc.parallel {{.*}}vector_length(%c4
// LANES:         arith.cmpi sle, %mean{{.*}}, %c96
// LANES:         acc.parallel {{.*}}vector_length(%c8
// LANES:         arith.cmpi sle, %mean{{.*}}, %c512
// LANES:         acc.parallel {{.*}}vector_length(%c16
// LANES:         acc.parallel {{.*}}vector_length(%c32
// LANES:         llvm.return
// OTHER-NOT:     found independent
void lengths(int n, int m, const int *restrict len, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(len[0:n], a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
        float most = 0, sum = 0;
        for (int j = 0; j < len[i]; j++)
            most = a[i * m + j] > most ? a[i * m + j] : most;
        for (int j = 0; j < len[i]; j++) {
            b[i * m + j] = a[i * m + j] - most;
            sum += b[i * m + j];
        }
        for (int j = 0; j < len[i]; j++)
            b[i * m + j] /= sum;
    }
}

// Rows that follow each other: a sum without an order, read only, may have a thread up to 12 entries.
// CHECK-LABEL: @packed
// CHECK:         acc.loop reduction
// CHECK:           accx.why = "found independent
// LANES-LABEL: @packed
// LANES:         arith.cmpi sle, %mean{{.*}}, %c12
// LANES:         acc.parallel {{.*}}vector_length(%c128
// LANES:         acc.parallel {{.*}}vector_length(%c32
void packed(int n, const int *p, const int *restrict column, const int *restrict w, const int *restrict v, int *restrict s)
{
#pragma acc parallel loop present(p[0:n+1], column[0:p[n]], w[0:p[n]], v[0:n], s[0:n])
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int k = p[i]; k < p[i + 1]; k++)
            sum += w[k] * v[column[k]];
        s[i] = sum;
    }
}

// One sum whose order counts, of entries that a list has for each row, also under a condition.
// CHECK-LABEL: @lists
// CHECK:         acc.loop reduction
// CHECK:           } attributes {{{.*}}accx.in_order
// LANES-LABEL: @lists
// LANES:         arith.cmpi sle, %mean{{.*}}, %c12
// LANES:         arith.cmpi sle, %mean{{.*}}, %c192
// LANES:         acc.parallel {{.*}}vector_length(%c4
void lists(int n, int m, const int *restrict count, const int *restrict list, const float *restrict x, float *restrict f)
{
#pragma acc parallel loop present(count[0:n], list[0:n*m], x[0:n], f[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = 0; k < count[i]; k++) {
            float d = x[list[i * m + k]] - x[i];
            if (d > 1)
                sum += d;
        }
        f[i] = sum;
    }
}

// Entries that a row begins elsewhere, or up to the last.
// CHECK-LABEL: @elsewhere
// CHECK:         acc.loop reduction
// CHECK:           accx.why = "found independent
// CHECK:         acc.loop control(%k
// CHECK:           accx.why = "found independent
// LANES-LABEL: @elsewhere
// LANES-COUNT-2: llvm.call @__accopt_mean_trip
void elsewhere(int n, int m, const int *restrict p, const unsigned *restrict q, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(q[0:n], a[0:n*m], b[0:n])
    for (int i = 0; i < n; i++) {
        float most = 0;
        for (int k = i * m; k < i * m + (int)q[i]; k++)
            most = a[k] > most ? a[k] : most;
        b[i] = most;
    }
#pragma acc parallel loop present(p[0:n+1], a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++)
        for (int k = p[i]; k <= p[i + 1] - 1; k++)
            b[k] = a[k];
}

// Rows of a triangle, of which the middle one says how long they are; not where a directive asks for lanes.
// CHECK-LABEL: @triangle
// CHECK:         acc.loop reduction
// CHECK:           } attributes {{{.*}}accx.in_order
// LANES-LABEL: @triangle
// LANES:         %[[HALF:.*]] = arith.divsi
// LANES:         %mean{{.*}} = arith.addi
// LANES:         arith.cmpi sle, %mean{{.*}}, %c12
// LANES:         acc.parallel {{.*}}vector_length(%c4
// LANES-LABEL: @asked
// LANES-NOT:     %mean
// LANES:         llvm.return
void triangle(int n, const float *restrict a, const float *restrict x, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*n], x[0:n], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int j = 0; j <= i; j++)
            sum += a[i * n + j] * x[j];
        s[i] = sum;
    }
}
void asked(int n, const float *restrict a, const float *restrict x, float *restrict s)
{
#pragma acc parallel loop present(a[0:n*n], x[0:n], s[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
#pragma acc loop reduction(+:sum)
        for (int j = 0; j <= i; j++)
            sum += a[i * n + j] * x[j];
        s[i] = sum;
    }
}

// Left to one thread, or to stage-ordered-sums: such a sum of rows that follow each other, loops of different lengths,
// entries that are neighbours of those of the next row, and lengths that are computed.
// CHECK-LABEL: @alone
// CHECK-NOT:     found independent
// CHECK:         llvm.return
void alone(int n, int m, const int *restrict p, const int *restrict q, const float *restrict a, float *restrict b)
{
#pragma acc parallel loop present(p[0:n+1], a[0:p[n]], b[0:n])
    for (int i = 0; i < n; i++) {
        float sum = 0;
        for (int k = p[i]; k < p[i + 1]; k++)
            sum += a[k];
        b[i] = sum;
    }
#pragma acc parallel loop present(p[0:n], q[0:n], a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < p[i]; j++)
            b[i * m + j] = 0;
        for (int j = 0; j < q[i]; j++)
            b[i * m + j] += a[i * m + j];
    }
#pragma acc parallel loop present(p[0:n], a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < p[i]; j++)
            b[j * n + i] = a[j * n + i];
#pragma acc parallel loop present(p[0:n], a[0:n*m], b[0:n*m])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < p[i] / 2; j++)
            b[i * m + j] = a[i * m + j];
}
