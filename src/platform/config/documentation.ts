import { descriptions, variables } from './variables.js';

/** @returns the text of docs/configuration.md: one table of every variable */
export function configurationDocument(): string {
  const rows = Object.entries(variables.shape).map(([name, schema]) => {
    const about = descriptions.get(schema);
    if (about === undefined) throw new Error(`${name} has no description`);
    const standard = about.otherwise ?? (about.default === '' ? 'none' : `\`${about.default}\``);
    return `| \`${name}\` | ${about.meaning} | ${standard} | \`${about.example}\` |`;
  });
  return `# Configuration

Everything is set by environment variables, read and checked once, at start. With none set, the service runs on what it
brings along: PostgreSQL, keys and a development time-stamp authority in \`./data\`. A wrong value stops the program, with
exit code 1 and one message that names every problem. A variable that is set to nothing counts as not set.

This page is made from the table in \`src/platform/config/variables.ts\`; a test holds them together.

| Variable | Meaning | Default | Example |
|---|---|---|---|
${rows.join('\n')}

\`TSA_URLS\` and \`TSA_CA_FILE\` are set together or not at all; of \`MASTER_KEY\` and \`MASTER_KEY_FILE\` only one is set.

A time stamp whose time differs by more than 60 seconds from this machine's clock is not accepted; that is not
configurable, so keep the clock synchronised.

## The data folder

| Path in \`DATA_DIR\` | What it is | Back it up? |
|---|---|---|
| \`master.key\` | The master key, unless \`MASTER_KEY\` or \`MASTER_KEY_FILE\` gives it | Yes, apart from the database: who has both can read everything, who loses it can read nothing |
| \`postgres/\` | Embedded PostgreSQL: a copy of its programs, its database files and \`postgres.log\` | With \`pg_dump\` or \`pg_basebackup\`, not by copying a running server's files |
| \`embedded.json\` | Where the embedded PostgreSQL's files are, and its port | Yes |
| \`postgres.password\` | Password of the embedded PostgreSQL's superuser \`consent_ledger\` | Yes |
| \`development-tsa/\` | Keys and certificates of the development time-stamp authority, unless \`TSA_URLS\` names real ones. \`development-tsa-root.pem\` in it is what \`--tsa-ca\` takes | If what it stamped is to be verified later: a new one is made where it is missing, and the new root does not vouch for the old stamps |
| \`ledger.vkey\` | The ledger's public key, which \`--ledger-key\` takes. A worker writes it at every start | No: it follows from the ledger's key, which is in the database. Whoever verifies keeps a copy |
| \`embedded.lock\` | Held while the embedded PostgreSQL is started or stopped | No |
| \`erasures.ndjson\` | The erasure journal, unless \`ERASURE_JOURNAL\` moves it | Yes, and never restore an older one |
| \`ledger-head.json\` | How far the ledger has come, beside the erasure journal ([restore.md](restore.md)) | Yes, and never restore an older one |

The embedded PostgreSQL listens on 127.0.0.1 only. Every command that uses the same \`DATA_DIR\` shares it; the last one to
end stops it. PostgreSQL refuses to run as root: a service that root starts keeps the database files in a folder of an
unprivileged account (\`postgres\`, else \`nobody\`) below \`/var/lib/consent-ledger\`, which is printed once and recorded in
\`embedded.json\`; to delete such an installation, delete that folder too. Two containers must not share one \`DATA_DIR\`.
`;
}
