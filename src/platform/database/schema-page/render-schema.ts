import { DATABASE_ROLES } from '../roles.js';
import type { SchemaDescription, TableDescription } from './read-schema.js';
import type { TableGrant } from './table-grants.js';

const INTRODUCTION = `# Database schema

After reading this page you know what each table, column and function of the database is for.

The page is generated from a migrated database by \`npm run docs:schema\`, and a test compares the
two. The texts are the comments in the database itself (\`\\d+\` in psql shows them). The SQL, with
comments on its reasons, is in
[\`src/platform/database/migrations\`](../src/platform/database/migrations/0001-initial).
[Database roles](database-roles.md) shows the rights of all roles in one table.

The tables of projections are not listed: each generation has a schema of its own, whose tables the
definitions in [\`projections\`](../projections) describe.
`;

/** Returns the text of `docs/schema.md`. */
export function schemaPage(schema: SchemaDescription): string {
  return [
    INTRODUCTION,
    '## Tables\n',
    ...schema.tables.map((table) => tableSection(table, schema.grants)),
    '## Types\n',
    '| Type | Fields or values | Meaning |',
    '|---|---|---|',
    ...schema.types.map(({ name, parts, meaning }) => row([code(name), parts.map(code).join(', '), meaning ?? ''])),
    '\n## Functions\n',
    'A function that runs as its owner (`SECURITY DEFINER`) has the rights of the user who migrated the database.\n',
    '| Function | Runs as | May be executed by | Purpose |',
    '|---|---|---|---|',
    ...schema.functions.map(({ name, signature, runsAsOwner, mayExecute, meaning }) =>
      row([code(name + signature), runsAsOwner ? 'owner' : 'caller', mayExecute.map(short).join(', '), meaning ?? '']),
    ),
    '',
  ].join('\n');
}

function tableSection(table: TableDescription, grants: readonly TableGrant[]): string {
  const { name, meaning, columns, constraints, indexes, triggers, partitions } = table;
  const own = grants.filter((grant) => grant.table === name.split('.').at(-1));
  return [
    `### \`${name}\`\n`,
    `${meaning ?? ''}\n`,
    '| Column | Type | Null | Default | Meaning |',
    '|---|---|---|---|---|',
    ...columns.map((column) =>
      row([
        code(column.name),
        column.type,
        column.nullable ? 'yes' : 'no',
        column.default === null ? '' : code(column.default),
        column.meaning ?? '',
      ]),
    ),
    '',
    ...items('Constraint', constraints),
    ...items('Index', indexes),
    ...items('Trigger', triggers),
    ...items('Partition', partitions),
    ...DATABASE_ROLES.flatMap((role) => own.filter((grant) => grant.role === role)).map(
      ({ role, granted }) => `- Role \`${short(role)}\`: ${granted}`,
    ),
    '',
  ].join('\n');
}

function items(title: string, texts: readonly string[]): string[] {
  return texts.map((text) => `- ${title} ${code(text)}`);
}

function row(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function short(role: string): string {
  return role.replace('consent_ledger_', '');
}
