// RUN: accopt %s -p narrow-long-doubles --split-input-file --verify-diagnostics | filecheck %s

// CHECK: error: 'modfl' with 'long double' is not available in GPU code
// CHECK: help: convert to double, and call the function for double
"gpu.module"() <{sym_name = "kernels"}> ({
  llvm.func @modfl(f80, !llvm.ptr) -> f80
  llvm.func @f(%x: f80, %p: !llvm.ptr) {
    %r = llvm.call @modfl(%x, %p) : (f80, !llvm.ptr) -> f80
    llvm.return
  }
}) : () -> ()

// -----

// CHECK: error: 'long double' in a structure or complex number used as a value is not possible on the GPU
// CHECK: help: use double in compute regions
"gpu.module"() <{sym_name = "kernels"}> ({
  llvm.func @f(%p: !llvm.ptr) {
    %z = llvm.load %p : !llvm.ptr -> !llvm.struct<"complex", (f80, f80)>
    llvm.return
  }
}) : () -> ()

// -----

// CHECK: error: the bits of a 'long double' are not available on the GPU
"gpu.module"() <{sym_name = "kernels"}> ({
  llvm.func @f(%x: f80) {
    %b = arith.bitcast %x : f80 to i80
    llvm.return
  }
}) : () -> ()
