/* What the tool says when another process cuts a file short that it has mapped.
 *
 * Reading the lost part raises SIGBUS, wherever in the program that happens. The library installs
 * no handler; the command line does, before anything is mapped. The handler names the file, as the
 * list of the process's mappings has it, and ends the program with the status of a read that
 * failed. Outputs that have no name yet vanish; where the file system needs names for them, and
 * for a folder that emit-c was writing, a hidden .vitfold-*.tmp stays, as after kill -9. A SIGBUS
 * that is no such read ends the program as without the handler.
 */
#ifndef VF_CLI_CUT_FILE_H
#define VF_CLI_CUT_FILE_H

/* End with `exit_status` when a mapped file turns out to be cut. */
void cli_watch_cut_files(int exit_status);

#endif
