import { spawn } from 'node:child_process';
import { once } from 'node:events';

export interface EndedProgram {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface ProgramOptions {
  readonly cwd?: string;
  /** Added to PATH and HOME, all that the program has of this environment. */
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program without input until it ends, as a reader of the documentation would. */
export async function runProgram(
  program: string,
  args: readonly string[],
  { cwd, env }: ProgramOptions = {},
): Promise<EndedProgram> {
  const child = spawn(program, args, {
    cwd,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let [stdout, stderr] = ['', ''];
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk;
  });
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  await once(child, 'close');
  return { exitCode: child.exitCode, stdout, stderr };
}

/** Runs commands of the documentation in one shell, which ends at the first that fails. */
export function runCommands(commands: string, options: ProgramOptions): Promise<EndedProgram> {
  return runProgram('bash', ['-euo', 'pipefail', '-c', commands], options);
}
