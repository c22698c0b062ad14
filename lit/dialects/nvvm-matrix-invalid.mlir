// RUN: accopt %s --split-input-file --verify-diagnostics | filecheck %s

// CHECK: expected A by rows and B by columns
llvm.func @layout(%x: f64) {
  %d = nvvm.mma.sync A[%x] B[%x] C[%x, %x] {layoutA = #nvvm.mma_layout<col>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 8, n = 8, k = 4>} : (f64, f64, f64) -> !llvm.struct<(f64, f64)>
  llvm.return
}
// -----
// CHECK: expected 4 elements of C in each lane, got 2
llvm.func @share(%x: f64) {
  %d = nvvm.mma.sync A[%x, %x] B[%x] C[%x, %x] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 16, n = 8, k = 4>} : (f64, f64, f64) -> !llvm.struct<(f64, f64)>
  llvm.return
}
// -----
// CHECK: expected the result type !llvm.struct<(f64, f64)>, got !llvm.struct<(f64)>
llvm.func @result(%x: f64) {
  %d = nvvm.mma.sync A[%x] B[%x] C[%x, %x] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 8, n = 8, k = 4>} : (f64, f64, f64) -> !llvm.struct<(f64)>
  llvm.return
}
