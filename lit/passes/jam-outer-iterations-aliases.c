// RUN: accopt %s --target nvptx --emit transformed | filecheck %s
// RUN: accopt %s --target nvptx --emit device-llvm | filecheck %s --check-prefix LLVM
// RUN: accopt %s --target nvptx --emit ptx | filecheck %s --check-prefix PTX

// Rows that read after a store: what a row stores is not what other rows read, nor what all of them read.
// The first sums are not stored, nor read again.
// CHECK-LABEL: llvm.func @centre
// CHECK:         llvm.load %mean{{.*}} {accx.iteration = [4 : i32, 4 : i32, 0 : i32]{{.*}}}
// CHECK:         llvm.store {{.*}} {accx.iteration = [0 : i32, 4 : i32, 0 : i32]}
// CHECK:         llvm.load %deviation{{.*}} {accx.iteration = [4 : i32, 4 : i32, 0 : i32]{{.*}}}
// LLVM:          store double {{.*}}, !alias.scope ![[OWN:[0-9]+]], !noalias ![[OTHERS:[0-9]+]]
// LLVM:          ![[DOMAIN:[0-9]+]] = distinct !{![[DOMAIN]]}
// LLVM-NEXT:     ![[FIRST:[0-9]+]] = distinct !{![[FIRST]], ![[DOMAIN]]}
// LLVM-NEXT:     ![[SECOND:[0-9]+]] = distinct !{![[SECOND]], ![[DOMAIN]]}
// PTX:         .visible .entry centre_{{[0-9]+}}_2_kernel
// PTX-NOT:       st.global
// PTX:           div.rn.f64
// PTX-NEXT:      div.rn.f64
// PTX-NEXT:      div.rn.f64
// PTX-NEXT:      div.rn.f64
// PTX-NEXT:      st.global.b64
// PTX-NEXT:      st.global.b64
// PTX-NEXT:      st.global.b64
// PTX-NEXT:      st.global.b64
// PTX-NEXT:      bra
void centre(int n, int m, double *a, const double *mean, const double *deviation) {
#pragma acc parallel loop present(a, mean, deviation)
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < m; j++) {
      a[i * m + j] -= mean[j];
      a[i * m + j] /= deviation[j];
    }
}

// Nothing is read after a store.
// CHECK-LABEL: llvm.func @once
// CHECK-NOT:     accx.iteration
void once(int n, int m, float *a, const float *b) {
#pragma acc parallel loop present(a, b)
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < m; j++) a[i * m + j] += b[i * m + j];
}

// Another kernel has another number of rows.
// CHECK-LABEL: llvm.func @longer
// CHECK:         llvm.load %w{{.*}} {accx.iteration = [8 : i32, 8 : i32, 0 : i32]{{.*}}}
void longer(int n, int m, double *a, const double *w) {
#pragma acc parallel loop present(a, w)
  for (int i = 0; i < n; i++)
#pragma acc loop
    for (int j = 0; j < m; j++)
#pragma acc loop seq
      for (int k = 0; k < 8; k++) {
        a[(i * 8 + k) * m + j] -= w[j];
        a[(i * 8 + k) * m + j] /= w[k * m + j];
      }
}
