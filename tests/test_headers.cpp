// Lets CMake precompile the headers that the tests share.
