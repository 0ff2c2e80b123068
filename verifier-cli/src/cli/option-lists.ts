/** How many arguments each command has. */
const ARGUMENTS: Readonly<Record<string, number>> = {
  check: 1,
  show: 2,
  timestamp: 1,
  compare: 2,
  'check-contradiction': 1,
  promise: 1,
};
/** Options that may be given several times. */
const LISTS: ReadonlySet<string> = new Set([
  '--tsa-ca',
  '--ledger-key',
  '--witness-key',
  '--untrusted',
  '--crl',
  '--ocsp',
  '--consistency',
  '--policy',
  '--promise',
]);
const OTHERS_WITH_VALUE: ReadonlySet<string> = new Set([
  ...[
    '--trust',
    '--data',
    '--digest',
    '--nonce',
    '--revocation',
    '--at',
    '--max-delay',
    '--max-age',
    '--witnesses',
    '--require-stamps',
    '--html',
    '--language',
    '--attachments',
    '--format',
    '--contradiction',
    '--output',
  ],
]);

/**
 * Lets several files follow one option (`--tsa-ca a.pem b.pem`), as if the option preceded each of them. Files belong
 * to the option only once the command has its own arguments, so that `--tsa-ca a.pem token.tsr` still names the token.
 * @param args the arguments of the program, the command first
 */
export function spreadLists(args: readonly string[]): readonly string[] {
  const [command = '', ...rest] = args;
  const wanted = ARGUMENTS[command];
  if (wanted === undefined) return args;
  const out = [command];
  let given = 0;
  let list: string | null = null;
  let isValue = false;
  for (const [at, arg] of rest.entries()) {
    if (arg === '--') return [...out, ...rest.slice(at)];
    if (isValue) isValue = false;
    else if (arg.startsWith('-')) {
      list = LISTS.has(arg) ? arg : null;
      isValue = list !== null || OTHERS_WITH_VALUE.has(arg);
    } else if (list !== null && given >= wanted) out.push(list);
    else {
      given += 1;
      list = null;
    }
    out.push(arg);
  }
  return out;
}
