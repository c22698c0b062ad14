// RUN: accopt %s --target=host | filecheck %s
// RUN: accopt %s --target=host --emit=host | accopt --target=host --emit=llvm | filecheck %s --check-prefix=LLVM

// Atomic numbers are read, written and changed by compare-and-exchange as the integers of their bytes.
// LLVM:        store atomic i32 %{{.*}}, ptr @a seq_cst
// CHECK-LABEL: llvm.func @whole
// CHECK:       %[[BITS:.*]] = arith.bitcast %x : f32 to i32
// CHECK:       llvm.store %[[BITS]], %a atomic seq_cst {alignment = 4 : i64}
// CHECK:       %[[HELD:.*]] = llvm.load %a_1 atomic seq_cst
// CHECK:       arith.bitcast %[[HELD]] : i32 to f32
_Atomic float a;
float whole(float x) {
  a = x;
  return a;
}

// CHECK-LABEL: llvm.func @sum
// CHECK:       arith.bitcast %{{.*}} : i64 to f64
// CHECK:       arith.addf
// CHECK:       arith.bitcast %{{.*}} : f64 to i64
// CHECK:       cmpxchg
_Atomic double b;
double sum(double x) {
  b += x;
  return b;
}
