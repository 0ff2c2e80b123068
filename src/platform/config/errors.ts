/** One invalid or missing variable. Never contains the value, which may be a secret. */
export interface ConfigProblem {
  readonly name: string;
  /** The problem, as the end of a sentence that begins with the name. */
  readonly problem: string;
  readonly example: string;
}

/** The configuration is invalid. The message lists every problem. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';

  constructor(readonly problems: readonly ConfigProblem[]) {
    const lines = problems.map(({ name, problem, example }) => `  ${name} ${problem} Example: ${name}=${example}`);
    super(`The configuration is invalid:\n${lines.join('\n')}\ndocs/configuration.md describes every variable.`);
  }
}
