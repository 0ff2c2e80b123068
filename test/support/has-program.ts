import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Whether a program is installed. */
export async function hasProgram(name: string): Promise<boolean> {
  return promisify(execFile)('which', [name]).then(
    () => true,
    () => false,
  );
}
