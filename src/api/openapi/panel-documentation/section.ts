import type { JsonObject } from '../../../../schemas/json/json-value.js';
import type { Operation } from '../../server/operation.js';
import { parameterSchemas } from '../json-schemas.js';

/** Characters of the longest example on one line. */
const MAX_LINE = 140;

/** @returns the documentation of the operations of one tag: a table, and an example of each body */
export function sectionOf(tag: string, operations: readonly Operation[]): string {
  const bodies = operations.flatMap(({ method, path, example }) =>
    example.body === undefined ? [] : [`${method.toUpperCase()} ${belowPrefix(path)}\n${shownBody(example.body)}`],
  );
  return `### ${tag}

| Method | Path | Summary | Roles | Audit log |
|---|---|---|---|---|
${operations.map(rowOf).join('\n')}
${bodies.length === 0 ? '' : `\n\`\`\`text\n${bodies.join('\n\n')}\n\`\`\`\n`}`;
}

function rowOf(operation: Operation): string {
  const { method, path, summary, description, access, action } = operation;
  const text = [`${summary}.`, description, revisionOf(operation)].filter(Boolean).join(' ').replaceAll('|', '\\|');
  return `| ${method.toUpperCase()} | \`${belowPrefix(path)}\` | ${text} | ${access.roles?.join(', ')} | ${action === null ? '' : `\`${action}\``} |`;
}

/** How a request states the revision of the draft; null: it does not. */
function revisionOf({ body, query }: Operation): string | null {
  const inBody = parameterSchemas(body);
  if (inBody.required.includes('revision')) return '**Requires `revision`.**';
  if ('revision' in inBody.properties) return '**Accepts `revision`.**';
  return 'revision' in query.shape ? '**Accepts `?revision=`.**' : null;
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
