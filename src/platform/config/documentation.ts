import { descriptions, variables } from './variables.js';

/** @returns the text of docs/configuration.md: one table of every variable */
export function configurationDocument(): string {
  const rows = Object.entries(variables.shape).map(([name, schema]) => {
    const about = descriptions.get(schema);
    if (about === undefined) throw new Error(`${name} has no description`);
    const standard = about.otherwise ?? (about.default === '' ? 'none' : `\`${about.default}\``);
    const example = about.example.replaceAll('|', '\\|');
    return `| \`${name}\` | ${about.meaning} | ${standard} | \`${example}\` |`;
  });
  return `# Configuration

After reading this page you can set every variable of the service, and you know which files of the
data folder to back up.

The service reads and checks its environment variables once, at start. With none set, it uses an
embedded PostgreSQL, generated keys and a development time stamp authority, all in \`./data\`. An
invalid value stops the program with exit code 1 and one message that names every problem. An empty
variable counts as not set.

This page is generated from the table in \`src/platform/config/variables.ts\`, and a test compares
the two.

| Variable | Meaning | Default | Example |
|---|---|---|---|
${rows.join('\n')}

Set \`TSA_URLS\` and \`TSA_CA_FILE\` together or not at all. The same is true of \`WITNESS_URLS\` and
\`WITNESS_KEYS\`. Set at most one of \`MASTER_KEY\` and \`MASTER_KEY_FILE\`.

The service rejects a time stamp whose time differs by more than 60 seconds from the clock of this
machine. The limit is not configurable, so keep the clock synchronised.

## The data folder

| Path in \`DATA_DIR\` | Content | Back it up? |
|---|---|---|
| \`master.key\` | The master key, unless \`MASTER_KEY\` or \`MASTER_KEY_FILE\` gives it | Yes, apart from the database. With both, everything can be read; without the key, no personal value can |
| \`postgres/\` | Embedded PostgreSQL: a copy of its programs, its database files and \`postgres.log\` | With \`pg_dump\` or \`pg_basebackup\`, not by copying a running server's files |
| \`example.json\` | Only with \`serve --example\`: keys, user and password in clear text | No |
| \`embedded.json\` | Location of the files of the embedded PostgreSQL, and its port | Yes |
| \`postgres.password\` | Password of the embedded PostgreSQL's superuser \`consent_ledger\` | Yes |
| \`development-tsa/\` | Keys and certificates of the development time stamp authority, unless \`TSA_URLS\` names real ones. \`development-tsa-root.pem\` in it is the file for \`--tsa-ca\` | If its time stamps are to be verified later. The service creates a new authority where it is missing, whose root does not verify the old time stamps |
| \`ledger.vkey\` | The public keys of the ledger, the file for \`--ledger-key\`. A worker writes it at every start | No: it is derived from the key of the ledger, which is in the database. Verifiers keep a copy |
| \`embedded.lock\` | Held while the embedded PostgreSQL is started or stopped | No |
| \`erasures.ndjson\` | The erasure journal, unless \`ERASURE_JOURNAL\` moves it | Yes, and never restore an older one |
| \`ledger-head.json\` | Size and root of the ledger, beside the erasure journal ([restore.md](restore.md)) | Yes, and never restore an older one |

The embedded PostgreSQL listens on 127.0.0.1 only. Every command that uses the same \`DATA_DIR\`
shares it, and the last one to end stops it. PostgreSQL refuses to run as root. A service that root
starts therefore keeps the database files in a folder of an unprivileged account (\`postgres\`, else
\`nobody\`) below \`/var/lib/consent-ledger\`. It prints this folder once and records it in
\`embedded.json\`. To delete such an installation, delete that folder too. Two containers must not
share one \`DATA_DIR\`.
`;
}
