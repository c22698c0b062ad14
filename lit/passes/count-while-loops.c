// RUN: accopt %s --emit acc -p count-while-loops | filecheck %s

// What ends the loop counts it: its turns run over the same numbers, and carried values stay.
// CHECK-LABEL: @up
// CHECK:           scf.for %{{.*}} = %c0{{.*}} to %n step %c1{{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %c0{{.*}}) -> (f64, i32) : i32 {
// CHECK-NOT:       scf.while
void up(int n, const double *a, double *b)
{
#pragma acc parallel present(a[0:n], b[0:n])
    {
        double sum = 0;
        int k = 0;
        while (k < n)
            sum += a[k++];
        b[0] = sum;
    }
}

// One more turn, by threes, with the number on the right.
// CHECK-LABEL: @including
// CHECK:           %[[N:.*]] = arith.addi %n_2, %{{.*}} overflow<nsw> : i32
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[N]] step %{{.*}} iter_args
void including(int n, int first, double *b)
{
#pragma acc parallel present(b[0:n])
    {
        int k = first, s = 0;
        while (n >= k) {
            s += k;
            k += 3;
        }
        b[0] = s + k;
    }
}

// Down: as many turns as there are numbers.
// CHECK-LABEL: @down
// CHECK:           arith.subi %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK:           %[[COUNT:.*]] = arith.addi %{{.*}}, %{{.*}} overflow<nsw> : i64
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[COUNT]] step %{{.*}} iter_args
void down(int n, double *b)
{
#pragma acc parallel present(b[0:n])
    {
        int k = n, s = 0;
        while (k >= 4) {
            s += k;
            k = k - 2;
        }
        b[0] = s;
    }
}

// A pointer up to an element of where it starts, and up to any other.
// CHECK-LABEL: @pointers
// CHECK:           %[[M:.*]] = arith.extsi %m : i32 to i64
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[M]] step %{{.*}} iter_args
// CHECK:           arith.divsi
// CHECK:           scf.for
// CHECK-NOT:       scf.while
// CHECK:           llvm.return
void pointers(int n, int m, const double *a, double *b)
{
#pragma acc parallel present(a[0:n], b[0:n])
    {
        const double *p = a + 1, *end = p + m, *last = a + n;
        double sum = 0;
        while (p < end)
            sum += *p++;
        while (p != last)
            sum += *p++;
        b[0] = sum;
    }
}

// An unsigned number may wrap around, but not one by one on the way to a larger one.
// CHECK-LABEL: @without_sign
// CHECK:           arith.extui %n_10 : i32 to i64
// CHECK:           scf.for %{{.*}} = %{{.*}} to %{{.*}} step
// CHECK:           scf.while
// CHECK-NOT:       scf.for
// CHECK:           llvm.return
void without_sign(unsigned n, int *b)
{
#pragma acc parallel present(b[0:n])
    {
        unsigned k = 0;
        int s = 0;
        while (k < n)
            s += k++;
        k = 1;
        while (k < n) {
            k += 2;
            s++;
        }
        b[0] = s;
    }
}

// Each iteration clears the lowest bit: as many iterations as bits. Not if the loop does something with each bit.
// CHECK-LABEL: @bits
// CHECK:           %[[BITS:.*]] = math.ctpop %{{.*}} : i32
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[BITS]] step
// CHECK:           %[[LONG:.*]] = math.ctpop %{{.*}} : i64
// CHECK:           scf.for %{{.*}} = %{{.*}} to %[[LONG]] step
// CHECK-COUNT-3:   scf.while
// CHECK:           llvm.return
void bits(unsigned v, long w, int *b)
{
#pragma acc parallel present(b[0:1])
    {
        unsigned x = v;
        long y = w;
        int c = 0;
        while (x) {
            x &= x - 1;
            c++;
        }
        for (; y != 0; y = (y - 1) & y)
            c += 2;
        for (x = v; x; x &= x - 2)
            c++;
        for (x = v; x != 1; x &= x - 1)
            c++;
        for (x = v; x; x &= x - 1)
            b[x & 7] = c;
        b[0] = c;
    }
}

// Left alone: a limit that changes, a step that does, two conditions, a value that is computed otherwise.
// CHECK-LABEL: @others
// CHECK-COUNT-4:   scf.while
// CHECK:           llvm.return
void others(int n, int step, int *b)
{
#pragma acc parallel present(b[0:n])
    {
        int k = 0, s = 0;
        while (k < b[k])
            k++;
        while (k < n) {
            k += step;
            step = -step + s;
        }
        for (k = 0; k < n && s < 100; k++)
            s += k;
        for (k = 1; k < n;)
            k *= 2;
        b[0] = s + k;
    }
}
