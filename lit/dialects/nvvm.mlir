// RUN: accopt %s | filecheck %s
// RUN: accopt %s | accopt | filecheck %s
// RUN: %if mlir-opt %{ accopt %s | mlir-opt > /dev/null %}

// Operations are read and printed in upstream's syntax, which upstream reads back.
// CHECK: builtin.module
module {
  llvm.func @f(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: i64, %arg4: f32, %arg5: f64, %arg6: i1, %arg7: !llvm.ptr<3>, %arg8: !llvm.ptr<1>) {
    %0 = nvvm.read.ptx.sreg.tid.x : i32
    %1 = nvvm.read.ptx.sreg.tid.x range <i32, 0, 1024> : i32
    %2 = nvvm.read.ptx.sreg.laneid : i32
    %3 = nvvm.read.ptx.sreg.warpsize : i32
    %tidx = nvvm.read.ptx.sreg.tid.x : i32
    %tidy = nvvm.read.ptx.sreg.tid.y : i32
    %tidz = nvvm.read.ptx.sreg.tid.z : i32
    %ntidx = nvvm.read.ptx.sreg.ntid.x : i32
    %ntidy = nvvm.read.ptx.sreg.ntid.y : i32
    %ntidz = nvvm.read.ptx.sreg.ntid.z : i32
    %ctaidx = nvvm.read.ptx.sreg.ctaid.x : i32
    %ctaidy = nvvm.read.ptx.sreg.ctaid.y : i32
    %ctaidz = nvvm.read.ptx.sreg.ctaid.z : i32
    %nctaidx = nvvm.read.ptx.sreg.nctaid.x : i32
    %nctaidy = nvvm.read.ptx.sreg.nctaid.y : i32
    %nctaidz = nvvm.read.ptx.sreg.nctaid.z : i32
    nvvm.memory.barrier <gpu>
    nvvm.memory.barrier <sys>
    nvvm.barrier0
    nvvm.barrier
    nvvm.barrier id = %arg2 number_of_threads = %arg2
    nvvm.bar.warp.sync %arg2 : i32
    nvvm.nanosleep %arg2
    %4 = nvvm.shfl.sync  bfly %arg2, %arg4, %arg2, %arg2 : f32 -> f32
    %5 = nvvm.shfl.sync  down %arg2, %arg4, %arg2, %arg2 {return_value_and_is_valid} : f32 -> !llvm.struct<(f32, i1)>
    %6 = nvvm.shfl.sync  idx %arg2, %arg2, %arg2, %arg2 : i32 -> i32
    %7 = nvvm.vote.sync  ballot %arg2, %arg6 -> i32
    %8 = nvvm.vote.sync  any %arg2, %arg6 -> i1
    %9 = nvvm.vote.sync  all %arg2, %arg6 -> i1
    %10 = nvvm.redux.sync  add %arg2, %arg2 : i32 -> i32
    %mma = nvvm.mma.sync A[%arg5] B[%arg5] C[%arg5, %arg5] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 8, n = 8, k = 4>} : (f64, f64, f64) -> !llvm.struct<(f64, f64)>
    nvvm.memory.barrier <cta>
    nvvm.cp.async.shared.global %arg7, %arg8, 16, cache =  cg : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.cp.async.commit.group
    nvvm.cp.async.wait.group 0
    nvvm.mbarrier.init %arg7, %arg2 : !llvm.ptr<3>, i32
    nvvm.fence.mbarrier.init
    nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
    nvvm.mbarrier.arrive.expect_tx %arg7, %arg2 : !llvm.ptr<3>, i32
    nvvm.cp.async.bulk.shared.cluster.global %arg7, %arg8, %arg7, %arg2 : !llvm.ptr<3>, !llvm.ptr<1>
    nvvm.mbarrier.try_wait.parity %arg7, %arg2, %arg2 : !llvm.ptr<3>, i32, i32
    nvvm.mbarrier.inval %arg7 : !llvm.ptr<3>
    llvm.return
  }
  llvm.func @k() attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32, 4, 1>, nvvm.minctasm = 2 : i32, nvvm.reqntid = array<i32: 32, 4, 1>} {
    llvm.return
  }
}

// CHECK-NEXT:   llvm.func @f(%arg0: !llvm.ptr, %arg1: !llvm.ptr, %arg2: i32, %arg3: i64, %arg4: f32, %arg5: f64, %arg6: i1, %arg7: !llvm.ptr<3>, %arg8: !llvm.ptr<1>) {
// CHECK-NEXT:     %0 = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:     %1 = nvvm.read.ptx.sreg.tid.x range <i32, 0, 1024> : i32
// CHECK-NEXT:     %2 = nvvm.read.ptx.sreg.laneid : i32
// CHECK-NEXT:     %3 = nvvm.read.ptx.sreg.warpsize : i32
// CHECK-NEXT:     %tidx = nvvm.read.ptx.sreg.tid.x : i32
// CHECK-NEXT:     %tidy = nvvm.read.ptx.sreg.tid.y : i32
// CHECK-NEXT:     %tidz = nvvm.read.ptx.sreg.tid.z : i32
// CHECK-NEXT:     %ntidx = nvvm.read.ptx.sreg.ntid.x : i32
// CHECK-NEXT:     %ntidy = nvvm.read.ptx.sreg.ntid.y : i32
// CHECK-NEXT:     %ntidz = nvvm.read.ptx.sreg.ntid.z : i32
// CHECK-NEXT:     %ctaidx = nvvm.read.ptx.sreg.ctaid.x : i32
// CHECK-NEXT:     %ctaidy = nvvm.read.ptx.sreg.ctaid.y : i32
// CHECK-NEXT:     %ctaidz = nvvm.read.ptx.sreg.ctaid.z : i32
// CHECK-NEXT:     %nctaidx = nvvm.read.ptx.sreg.nctaid.x : i32
// CHECK-NEXT:     %nctaidy = nvvm.read.ptx.sreg.nctaid.y : i32
// CHECK-NEXT:     %nctaidz = nvvm.read.ptx.sreg.nctaid.z : i32
// CHECK-NEXT:     nvvm.memory.barrier <gpu>
// CHECK-NEXT:     nvvm.memory.barrier <sys>
// CHECK-NEXT:     nvvm.barrier0
// CHECK-NEXT:     nvvm.barrier
// CHECK-NEXT:     nvvm.barrier id = %arg2 number_of_threads = %arg2
// CHECK-NEXT:     nvvm.bar.warp.sync %arg2 : i32
// CHECK-NEXT:     nvvm.nanosleep %arg2
// CHECK-NEXT:     %4 = nvvm.shfl.sync bfly %arg2, %arg4, %arg2, %arg2 : f32 -> f32
// CHECK-NEXT:     %5 = nvvm.shfl.sync down %arg2, %arg4, %arg2, %arg2 {return_value_and_is_valid} : f32 -> !llvm.struct<(f32, i1)>
// CHECK-NEXT:     %6 = nvvm.shfl.sync idx %arg2, %arg2, %arg2, %arg2 : i32 -> i32
// CHECK-NEXT:     %7 = nvvm.vote.sync ballot %arg2, %arg6 -> i32
// CHECK-NEXT:     %8 = nvvm.vote.sync any %arg2, %arg6 -> i1
// CHECK-NEXT:     %9 = nvvm.vote.sync all %arg2, %arg6 -> i1
// CHECK-NEXT:     %10 = nvvm.redux.sync add %arg2, %arg2 : i32 -> i32
// CHECK-NEXT:     %mma = nvvm.mma.sync A[%arg5] B[%arg5] C[%arg5, %arg5] {layoutA = #nvvm.mma_layout<row>, layoutB = #nvvm.mma_layout<col>, shape = #nvvm.shape<m = 8, n = 8, k = 4>} : (f64, f64, f64) -> !llvm.struct<(f64, f64)>
// CHECK-NEXT:     nvvm.memory.barrier <cta>
// CHECK-NEXT:     nvvm.cp.async.shared.global %arg7, %arg8, 16, cache = cg : !llvm.ptr<3>, !llvm.ptr<1>
// CHECK-NEXT:     nvvm.cp.async.commit.group
// CHECK-NEXT:     nvvm.cp.async.wait.group 0
// CHECK-NEXT:     nvvm.mbarrier.init %arg7, %arg2 : !llvm.ptr<3>, i32
// CHECK-NEXT:     nvvm.fence.mbarrier.init
// CHECK-NEXT:     nvvm.fence.proxy {kind = #nvvm.proxy_kind<async.shared>, space = #nvvm.shared_space<cta>}
// CHECK-NEXT:     nvvm.mbarrier.arrive.expect_tx %arg7, %arg2 : !llvm.ptr<3>, i32
// CHECK-NEXT:     nvvm.cp.async.bulk.shared.cluster.global %arg7, %arg8, %arg7, %arg2 : !llvm.ptr<3>, !llvm.ptr<1>
// CHECK-NEXT:     nvvm.mbarrier.try_wait.parity %arg7, %arg2, %arg2 : !llvm.ptr<3>, i32, i32
// CHECK-NEXT:     nvvm.mbarrier.inval %arg7 : !llvm.ptr<3>
// CHECK-NEXT:     llvm.return
// CHECK-NEXT:   }
// CHECK-NEXT:   llvm.func @k() attributes {nvvm.kernel, nvvm.maxntid = array<i32: 32, 4, 1>, nvvm.minctasm = 2 : i32, nvvm.reqntid = array<i32: 32, 4, 1>} {
// CHECK-NEXT:     llvm.return
// CHECK-NEXT:   }
