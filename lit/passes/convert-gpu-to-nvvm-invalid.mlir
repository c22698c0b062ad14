// RUN: not accopt %s -p convert-gpu-to-nvvm 2>&1 | filecheck %s

// Functions that GPUs do not have are refused by name.
"gpu.module"() <{sym_name = "accopt_kernels"}> ({
  llvm.func @fopen(!llvm.ptr, !llvm.ptr) -> !llvm.ptr
  llvm.func @f(%a: !llvm.ptr) {
    // CHECK: the function 'fopen' is called in GPU code, where it does not exist
    %r = llvm.call @fopen(%a, %a) : (!llvm.ptr, !llvm.ptr) -> !llvm.ptr
    llvm.return
  }
}) : () -> ()
