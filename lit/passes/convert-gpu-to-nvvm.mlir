// RUN: accopt %s -p convert-gpu-to-nvvm | filecheck %s

// CHECK-LABEL: sym_name = "accopt_kernels"
"gpu.module"() <{sym_name = "accopt_kernels"}> ({
  // The example of the pass: kernels keep their block size, thread indices stay i32.
  "gpu.func"() <{function_type = (!llvm.ptr) -> (), kernel}> ({
  ^bb0(%x : !llvm.ptr):
    %t = "gpu.thread_id"() <{dimension = #gpu<dim x>}> : () -> index
    %i = arith.index_cast %t : index to i32
    "gpu.barrier"() : () -> ()
    "test.op"(%i) : (i32) -> ()
    "gpu.return"() : () -> ()
  }) {sym_name = "k", gpu.known_block_size = array<i32: 128, 1, 1>} : () -> ()
  // CHECK-NEXT:  llvm.func @k(%x: !llvm.ptr) attributes {nvvm.kernel, nvvm.reqntid = array<i32: 128, 1, 1>} {
  // CHECK-NEXT:    %i = nvvm.read.ptx.sreg.tid.x range <i32, 0, 128> : i32
  // CHECK-NEXT:    nvvm.barrier0
  // CHECK-NEXT:    "test.op"(%i) : (i32) -> ()
  // CHECK-NEXT:    llvm.return

  // Dimensions of size one are constants; i64 and index uses get extensions of the i32.
  "gpu.func"() <{function_type = () -> (), kernel}> ({
    %t = "gpu.thread_id"() <{dimension = #gpu<dim y>}> : () -> index
    %n = "gpu.block_dim"() <{dimension = #gpu<dim x>}> : () -> index
    %b = "gpu.block_id"() <{dimension = #gpu<dim y>}> : () -> index
    %g = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
    %b64 = arith.index_cast %b : index to i64
    "test.op"(%t, %n, %b64, %g) : (index, index, i64, index) -> ()
    "gpu.return"() : () -> ()
  }) {sym_name = "registers", gpu.known_block_size = array<i32: 128, 1, 1>} : () -> ()
  // CHECK-LABEL: llvm.func @registers
  // CHECK-NEXT:    %{{.*}} = arith.constant 0 : i32
  // CHECK-NEXT:    %[[T:.*]] = arith.index_cast %{{.*}} : i32 to index
  // CHECK-NEXT:    %{{.*}} = arith.constant 128 : i32
  // CHECK-NEXT:    %[[N:.*]] = arith.index_cast %{{.*}} : i32 to index
  // CHECK-NEXT:    %[[B:.*]] = nvvm.read.ptx.sreg.ctaid.y range <i32, 0, 65535> : i32
  // CHECK-NEXT:    %[[B64:.*]] = arith.extsi %[[B]] : i32 to i64
  // CHECK-NEXT:    %{{.*}} = nvvm.read.ptx.sreg.nctaid.x range <i32, 1, 2147483647> : i32
  // CHECK-NEXT:    %[[G:.*]] = arith.index_cast %{{.*}} : i32 to index
  // CHECK-NEXT:    "test.op"(%[[T]], %[[N]], %[[B64]], %[[G]])

  // C's library: instructions where there are some, else libdevice; own functions stay.
  llvm.func @sinf(f32) -> f32
  llvm.func @fabs(f64) -> f64
  llvm.func @lrint(f64) -> i64
  llvm.func @mine(%x: f64) -> f64 {
    %a = llvm.call @fabs(%x) : (f64) -> f64
    %l = llvm.call @lrint(%a) : (f64) -> i64
    %m = math.exp %a : f64
    %q = math.sqrt %m : f64
    llvm.return %q : f64
  }
  // CHECK-NOT:   llvm.func @fabs
  // CHECK:       llvm.func @mine(%x_{{.*}}: f64) -> f64 {
  // CHECK-NEXT:    %a = llvm.intr.fabs(%{{.*}}) : (f64) -> f64
  // CHECK-NEXT:    %l = llvm.call @__nv_llrint(%a) : (f64) -> i64
  // CHECK-NEXT:    %m = llvm.call @__nv_exp(%a) : (f64) -> f64
  // CHECK-NEXT:    %q = math.sqrt %m : f64

  // jn at zero is 1 for order 0, and else 0; libdevice gives NaN.
  llvm.func @jnf(i32, f32) -> f32
  llvm.func @orders(%n: i32, %x: f32) -> f32 {
    %j = llvm.call @jnf(%n, %x) : (i32, f32) -> f32
    llvm.return %j : f32
  }
  // CHECK-LABEL: llvm.func @orders
  // CHECK-NEXT:    %[[J:.*]] = llvm.call @__nv_jnf(%[[ORDER:.*]], %[[X:.*]]) : (i32, f32) -> f32
  // CHECK:         %[[FIRST:.*]] = arith.cmpi eq, %[[ORDER]], %{{.*}} : i32
  // CHECK-NEXT:    %[[AT_ZERO:.*]] = arith.uitofp %[[FIRST]] : i1 to f32
  // CHECK-NEXT:    %[[ZERO:.*]] = "llvm.intr.is.fpclass"(%[[X]]) <{bit = 96 : i32}> : (f32) -> i1
  // CHECK-NEXT:    %j = llvm.select %[[ZERO]], %[[AT_ZERO]], %[[J]] : i1, f32

  // printf packs its arguments for the driver's vprintf.
  llvm.func @printf(!llvm.ptr, ...) -> i32
  "gpu.func"() <{function_type = (!llvm.ptr, i32, f64) -> (), kernel}> ({
  ^bb0(%f : !llvm.ptr, %i: i32, %d: f64):
    %s = llvm.call @mine(%d) : (f64) -> f64
    %r = llvm.call @printf(%f, %i, %s) vararg(!llvm.func<i32 (ptr, ...)>) : (!llvm.ptr, i32, f64) -> i32
    "gpu.return"() : () -> ()
  }) {sym_name = "prints"} : () -> ()
  // CHECK-LABEL: llvm.func @prints
  // CHECK-SAME:    attributes {nvvm.kernel} {
  // CHECK:         %printf_arguments = llvm.alloca %{{.*}} x !llvm.struct<(i32, f64)>
  // CHECK-NEXT:    %s = llvm.call @mine(%{{.*}}) : (f64) -> f64
  // CHECK:         llvm.store %{{.*}}, %{{.*}} : i32, !llvm.ptr
  // CHECK:         llvm.store %s, %{{.*}} : f64, !llvm.ptr
  // CHECK-NEXT:    %r = llvm.call @vprintf(%{{.*}}, %printf_arguments) : (!llvm.ptr, !llvm.ptr) -> i32

  // CHECK:       llvm.func @__nv_llrint(f64) -> i64
  // CHECK-NEXT:  llvm.func @__nv_exp(f64) -> f64
  // CHECK-NEXT:  llvm.func @__nv_jnf(i32, f32) -> f32
  // CHECK-NEXT:  llvm.func @vprintf(!llvm.ptr, !llvm.ptr) -> i32
}) : () -> ()

// Host code is left alone.
llvm.func @host(%x: f64) -> f64 {
  %s = math.sin %x : f64
  llvm.return %s : f64
}
// CHECK-LABEL: llvm.func @host
// CHECK-NEXT:    math.sin

// Tiles that the launch asks memory for lie at their offsets in one array without a size.
"gpu.module"() <{sym_name = "dynamic"}> ({
  // CHECK-LABEL: sym_name = "dynamic"
  // CHECK:       llvm.mlir.global external @accopt_dynamic_shared() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<0 x i8>
  // CHECK-NOT:   llvm.mlir.global internal
  // CHECK:       llvm.func @tiles
  // CHECK:         %[[START:.*]] = llvm.mlir.addressof @accopt_dynamic_shared
  // CHECK-NEXT:    %first = llvm.getelementptr inbounds %[[START]][0]
  // CHECK:         %[[AGAIN:.*]] = llvm.mlir.addressof @accopt_dynamic_shared
  // CHECK-NEXT:    %second = llvm.getelementptr inbounds %[[AGAIN]][60000]
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64, accx.dynamic = 0 : i64} : !llvm.array<60000 x i8>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64, accx.dynamic = 60000 : i64} : !llvm.array<100 x i8>
  "gpu.func"() <{function_type = (f32) -> (), kernel}> ({
  ^bb0(%x : f32):
    %first = llvm.mlir.addressof @a : !llvm.ptr<3>
    llvm.store %x, %first : f32, !llvm.ptr<3>
    %second = llvm.mlir.addressof @b : !llvm.ptr<3>
    llvm.store %x, %second : f32, !llvm.ptr<3>
    "gpu.return"() : () -> ()
  }) {sym_name = "tiles"} : () -> ()
}) : () -> ()

// Lanes leave a recursive function one by one: they wait for each other, once until the next call, before what
// they do together. The mask is all lanes, but not a constant.
// CHECK-LABEL: llvm.func @sums_of_recursion
// CHECK:         llvm.call @depth
// CHECK:         %below = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.lanemask.le"() : () -> i32
// CHECK-NEXT:    %above = llvm.call_intrinsic "llvm.nvvm.read.ptx.sreg.lanemask.gt"() : () -> i32
// CHECK-NEXT:    %lanes = llvm.or %below, %above : i32
// CHECK-NEXT:    nvvm.bar.warp.sync %lanes : i32
// CHECK-NEXT:    nvvm.shfl.sync
// CHECK-NEXT:    nvvm.shfl.sync
// CHECK-LABEL: llvm.func @sums_without
// CHECK-NOT:     nvvm.bar.warp.sync
// CHECK:         llvm.return
"gpu.module"() <{sym_name = "recursion"}> ({
  llvm.func @depth(%n : i32) -> i32 {
    %r = llvm.call @depth(%n) : (i32) -> i32
    llvm.return %r : i32
  }
  "gpu.func"() <{function_type = (i32, !llvm.ptr) -> (), kernel}> ({
  ^bb0(%n : i32, %p : !llvm.ptr):
    %all = arith.constant -1 : i32
    %c1 = arith.constant 1 : i32
    %clamp = arith.constant 31 : i32
    %r = llvm.call @depth(%n) : (i32) -> i32
    %s = nvvm.shfl.sync bfly %all, %r, %c1, %clamp : i32 -> i32
    %t = nvvm.shfl.sync bfly %all, %s, %c1, %clamp : i32 -> i32
    llvm.store %t, %p : i32, !llvm.ptr
    "gpu.return"() : () -> ()
  }) {sym_name = "sums_of_recursion"} : () -> ()
  "gpu.func"() <{function_type = (i32, !llvm.ptr) -> (), kernel}> ({
  ^bb0(%n : i32, %p : !llvm.ptr):
    %all = arith.constant -1 : i32
    %c1 = arith.constant 1 : i32
    %clamp = arith.constant 31 : i32
    %s = nvvm.shfl.sync bfly %all, %n, %c1, %clamp : i32 -> i32
    llvm.store %s, %p : i32, !llvm.ptr
    "gpu.return"() : () -> ()
  }) {sym_name = "sums_without"} : () -> ()
}) : () -> ()
