// RUN: accopt %s --target=host --stop-before lower-acc-atomics | filecheck %s
// RUN: accopt %s --target=host --remarks --emit=host -o /dev/null 2>&1 | filecheck %s --check-prefix=REMARK

// A gang is a CPU thread: its copy is updated by ordinary accesses that stay in order, and added atomically at the end. There are at
// most 64 gangs, each with four updates for each of its counters.
// CHECK-LABEL: @histogram
// CHECK:         %[[SHARE:.*]] = arith.divsi %{{.*}}, %c1024
// CHECK:         arith.minsi %[[SHARE]], %c64
// CHECK:         %num_gangs{{.*}} = arith.minsi
// CHECK:         acc.parallel
// CHECK:           %[[COPY:bins.*]] = llvm.alloca %{{.*}} x !llvm.array<256 x i32>
// CHECK:           acc.loop worker vector
// CHECK:           acc.loop {{.*}}gang
// CHECK:             %[[OLD:old.*]] = llvm.load %[[OWN:bins.*]] {{{.*}}accx.volatile{{.*}}} : !llvm.ptr -> i32
// CHECK:             %[[NEW:.*]] = arith.addi %[[OLD]]
// CHECK:             llvm.store volatile %[[NEW]], %[[OWN]]
// CHECK:           acc.loop worker vector
// CHECK:             acc.atomic.update
// REMARK: updates of bins in a copy of each gang
void histogram(long n, const int *restrict data, int *restrict bins)
{
#pragma acc parallel loop present(data[0:n], bins[0:256])
  for (long i = 0; i < n; i++) {
#pragma acc atomic update
    bins[data[i]]++;
  }
}

// Rows of lengths that the host does not know, and rows without a directive: the most gangs. The program's own number of gangs, captures, and arrays that
// are also read: as written.
// CHECK-LABEL: @rows
// CHECK:         arith.minsi %num_gangs{{.*}}, %c64
// CHECK:         acc.parallel
// CHECK:           llvm.alloca
void rows(int n, const int *restrict begin, const int *restrict data, float *restrict sums)
{
#pragma acc parallel loop gang present(begin[0:n+1], data[0:begin[n]], sums[0:16])
  for (int i = 0; i < n; i++) {
#pragma acc loop vector
    for (int k = begin[i]; k < begin[i + 1]; k++) {
#pragma acc atomic update
      sums[data[k]] += k;
    }
  }
}

// CHECK-LABEL: @steps
// CHECK:         arith.minsi %num_gangs{{.*}}, %c64
// CHECK:         acc.parallel
// CHECK:           llvm.alloca
void steps(int n, int m, const int *restrict data, int *restrict bins)
{
#pragma acc parallel loop gang present(data[0:n*m], bins[0:64])
  for (int i = 0; i < n; i++)
    for (int k = 0; k < m; k++) {
#pragma acc atomic update
      bins[data[i * m + k]] += k;
    }
}

// CHECK-LABEL: @others
// CHECK-NOT:     llvm.alloca {{.*}} x !llvm.array
// CHECK:         acc.atomic.capture
// CHECK:         acc.atomic.update
// CHECK:         llvm.return
void others(int n, int *restrict next, int *restrict to, int *restrict counts)
{
#pragma acc parallel loop present(next[0:1], to[0:n], counts[0:8])
  for (int i = 0; i < n; i++) {
    int place;
#pragma acc atomic capture
    place = next[0]++;
    to[place] = counts[7];
#pragma acc atomic update
    counts[i % 7]++;
  }
}
