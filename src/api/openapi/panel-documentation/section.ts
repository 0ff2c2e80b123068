import type { JsonObject } from '../../../../schemas/json/json-value.js';
import type { Operation } from '../../server/operation.js';
import { parameterSchemas } from '../json-schemas.js';

/** Longest example that stands in one line. */
const MAX_LINE = 140;

/** @returns what the documentation says of the operations of one tag: a table of them, and a body for each that takes one */
export function sectionOf(tag: string, operations: readonly Operation[]): string {
  const bodies = operations.flatMap(({ method, path, example }) =>
    example.body === undefined ? [] : [`${method.toUpperCase()} ${belowPrefix(path)}\n${shownBody(example.body)}`],
  );
  return `### ${tag}

| Method | Path | What it does | Roles | Audit log |
|---|---|---|---|---|
${operations.map(rowOf).join('\n')}
${bodies.length === 0 ? '' : `\n\`\`\`text\n${bodies.join('\n\n')}\n\`\`\`\n`}`;
}

function rowOf(operation: Operation): string {
  const { method, path, summary, description, access, action } = operation;
  const told = [`${summary}.`, description, revisionOf(operation)].filter(Boolean).join(' ').replaceAll('|', '\\|');
  return `| ${method.toUpperCase()} | \`${belowPrefix(path)}\` | ${told} | ${access.roles?.join(', ')} | ${action === null ? '' : `\`${action}\``} |`;
}

/** How a request says which revision of the draft it is about; null: it does not. */
function revisionOf({ body, query }: Operation): string | null {
  const inBody = parameterSchemas(body);
  if (inBody.required.includes('revision')) return '**Needs `revision`.**';
  if ('revision' in inBody.properties) return '**Takes `revision`.**';
  return 'revision' in query.shape ? '**Takes `?revision=`.**' : null;
}

/** One line, or one for each member. */
function shownBody(body: JsonObject): string {
  const line = JSON.stringify(body);
  if (line.length <= MAX_LINE) return line;
  const members = Object.entries(body).map(([name, value]) => `  ${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  return `{\n${members.join(',\n')}\n}`;
}

function belowPrefix(path: string): string {
  return path.replace(/^\/api\/v1/, '');
}
