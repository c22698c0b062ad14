"""
The options of gcc 12, clang and nvc that begin with `-f`, `-m` and `-M`, by their first word. An option
with another first word is a mistake, or belongs to a compiler that is not known here.
"""

from __future__ import annotations

import re

from ..base.similar import nearest

_F = """
abi access addrsig aggressive align aligned all allocation allow alt analyzer ansi apple
applicationextension approx argument asan asm associative assume async asynchronous auto autolink basic bit
blocks bootclasspath borland bounds bracket branch btr build builtin builtins c++ call caller callgraph
canonical caret cf char8 check checking chkp clang code color colors combine comment common commons compare
complete complex concepts cond conserve constant constexpr convergent coroutines coverage cprop crash
crossjumping cs cse cuda cx data dbg dce debug declone declspec deduce default defer delayed delete
dependence depfile devirtualize diagnostics digraphs direct directives disable discard dollars double dse
dump dwarf dwarf2 early elide eliminate emit emulated enable encoding enforce ensure enum escaping
exceptions excess exec expensive experimental extdirs extend extended extern external fast fat file filename
fill finite fixed float fold for force forward fp freestanding friend function functions gcse gimple global
gnu gnu89 gnuc gpu graphite guess guiding half handle harden hardened heinous hip hoist honor hosted huge
ident if ignore ilp32 implement implicit import include indirect inhibit init inline input instrument
integrated ipa ira isolate ivopts jmc jump keep knr labels lambdas lang large lax leading legacy lifetime
limit limited live lookup loop loops lra lto macro malign math matrix max mem memory memprof merge message
micro module modules modulo move ms msc mudflap name named native nested new nofp non nonansi nonnull
noopenmp noraw nothrow noxray objc object offload omit opaque open openacc openmp operator opt optimistic
optimize optional order orig pack packed parse partial partition pascal pass patchable pcc pch peel peephole
peephole2 permissive permitted pic pie plan9 plt plugin post pre prebuilt predictive preexcess prefetch
preprocessed preserve pretty printf procedure profile protect proto pseudo ptrauth ptrmem qualified random
range raw real reciprocal record ree reg register regmove relaxed rename reorder repo report require reroll
rerun reschedule restrict retain return rewrite ripa ropi round rounding rtlib rtti rwpi safe sanitize save
sched sched2 schedule scoped sdata section see sel selective self semantic separate short show shrink
signaling signed simd single sized skip slp spell spill split squangle ssa sso stack standalone stats std
stdarg store strength strict string strong struct swift symbol sync syntax tabstop target temp template test
this thread threads threadsafe time tls toplevel trace tracer track trampolines trapping trapv tree
trigraphs trivial type unconstrained underscoring unicode unified unique unit unroll unsafe unsigned unsized
unswitch unwind use user validate value var variable vect vector vectorize vendor verbose verify version
virtual visibility vla vpt vtable vtv wasm wchar weak web whole whopr wide windows working wpa wrapv write x
xl xor xray zee zero zvector
"""
_M = """
128bit 16 32 3dnow 3dnowa 64 80387 8bit 96bit abi abm accumulate adx aes align amx android apcs arch arm asm
avoid avx avxvnni big bionic bmi bmi2 branch call cet cld cldemote clflushopt clwb clzero cmodel code
constant cpu crc crc32 cx16 default direct dispatch double dump dynamic enqcmd f16c fancy fence fentry fix
float fma fma4 force fp fpmath fpu fsgsbase function fused fxsr general generate gfni glibc gpopt hard
harden hle hreset htm iamcu iee ieee implicit incoming indirect inline instrument instrumented intel invpcid
isa kl lam large linux little llvm local long low lvi lwp lzcnt m macosx manual memcpy memset mitigate mmx
movbe movdir64b movdiri mpx ms musl mwait mwaitx needed neon noexecstack nofpu nop omit outline pascal pc32
pc64 pc80 pclmul pconfig pcrel pku popcnt power8 prefer preferred prefetchwt1 prfchw ptwrite push qemu r
rdpid rdrnd rdseed recip record red reg regparm relax relocatable restrict retpoline rtd rtm sahf save seses
sgx sha sha512 shstk sign silence simd single skip skylake sm3 sm4 soft speculative sse sse2 sse2avx sse3
sse4 sse4a sseregparm ssse3 stack stackrealign static store strict stringop stv tbm thread threads thumb tls
tp track tsxldtrk tune uclibc uintr unaligned unix unsafe usermsr v vaes vec veclibabi vect8 vector vis
vpclmulqdq vsx vzeroupper waitpkg wbnoinvd widekl windows x x32 xop xsave xsavec xsaveopt xsaves zero
zvector
"""
_OF_NVC = """
accinform allocatable alpha anno array asmkeyword asmsuffix async autoinline backslash backspace bounds
builtin byteswapio cache
cache_align case chkfpstk chkptr chkstk concur cpp cray cuda cudalib dalign daz dclchk
defaultunit depchk dlines dll dollar dse dwarf1 dwarf2 dwarf3 eh extend extract fcon fixed flushz fma
fpapprox fpmisalign fprelaxed fptrap free func32 gccbug global idiom iface inform inline insert instrument
int128 iomutex ipa keepasm keepobj large
large_arrays lfs list llalign llvm loop lre m128 m256 makedll makeimplib mkl
movnt mpi mpich neginfo noalign noautoinline nobackslash nobounds nobuiltin nodalign nodaz nodclchk nodepchk
nodlines nodse nodwarf noeh noflushz nofma nofpapprox nofprelaxed noframe noi4 noidiom nointrinsic noiomutex
nolarge nolist nolre nom128 nom256 nomain nomovnt nompi nonuma noonetrip noopenmp noopt noprefetch
nopropcond norecursive noreentrant norefptr norpath nosave nosecond_underscore nosgimp nosignextend nosingle
nosmart nosmartalloc nostartup nostddef nostdinc nostdlib nostride0 nounixlogical nounroll noupcase novect
novintr nozerotrip numa openmp pcast pfi pfo pgicoff pre prefetch preprocess prof propcond quad r8
r8intrinsics recursive reentrant ref_externals safe_lastval safeptr save scalapack scalarsse schar
second_underscore sgimp signextend single smallstack smart smartalloc srcalloc stack_arrays standard std
stride0 suffix threadnum tp uchar unixlogical unroll upcase varargs vect vintr wide writable xvzerotrip
zerotrip
"""
_WORDS = {
    "-f": frozenset(_F.split()),
    "-m": frozenset(_M.split()),
    "-M": frozenset(_OF_NVC.split()),
}
_OPTION = re.compile(r"(-[fmM])(?:no-)?([A-Za-z0-9+_]+)")


def unknown_option(argument: str) -> str | None:
    """The warning for an option with one of these letters that none of the compilers has; None for a known
    option."""
    found = _OPTION.match(argument)
    if found is None:
        return None
    words = _WORDS[found[1]]
    word = (
        re.sub(r"^(sse|avx)[\d.].*|(lp|ilp)\d+$", r"\1", found[2]) if found[1] == "-m" else found[2]
    )
    if word.startswith("no") and found[1] == "-M":
        word = word if word in words else word[2:]
    if word in words or word.lower() in words:  # -fPIC
        return None
    near = nearest(found[2], words, 0.8)
    meant = f": did you mean '{found[1]}{near}'?" if near else ""
    return f"unknown option '{argument}' is ignored{meant}"
