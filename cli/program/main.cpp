// The program.
#include "cli/program/program.hpp"

int main(int argc, char** argv) { return depthcost::run_program(argc, argv); }
