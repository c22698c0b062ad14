// RUN: accopt %s -p "convert-gpu-to-nvvm{approximate-math=true}" | filecheck %s

// With approximate-math f32 functions are the fast ones of libdevice; f64 has none.
"gpu.module"() <{sym_name = "accopt_kernels"}> ({
  llvm.func @f(%a: f32, %b: f64) -> f64 {
    %s = math.sin %a : f32
    %t = math.sin %b : f64
    llvm.return %t : f64
  }
}) : () -> ()
// CHECK:      llvm.call @__nv_fast_sinf
// CHECK-NEXT: llvm.call @__nv_sin(
