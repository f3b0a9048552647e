[[ gnu :: const]] int f();
# pragma GCC optimize("x")
__builtin_trap
