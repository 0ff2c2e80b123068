import type { Operation } from '../../api/server/operation.js';

/** The place of an operation among the commands of `admin`: `admin site show` is group and name. */
export interface CommandName {
  readonly group: string;
  readonly name: string;
}

/**
 * The command of an operation: its group is the tag in the singular, its name is the `operationId`
 * without the words of the group. `rotateApiKey` of `API keys` is `api-key rotate`.
 */
export function commandName({ id, tag }: Pick<Operation, 'id' | 'tag'>): CommandName {
  const group = tag.toLowerCase().replace('time stamp', 'timestamp').split(' ').map(singular);
  const [verb = '', ...object] = id.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
  const further = object.filter((word) => !group.includes(singular(word)));
  return { group: group.join('-'), name: [verb === 'read' ? 'show' : verb, ...further].join('-') };
}

function singular(word: string): string {
  if (word.endsWith('ics')) return word;
  return word.replace(/(?<=r)ies$/, 'y').replace(/(?<=[a-z]{2})s$/, '');
}
