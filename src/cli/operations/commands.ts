import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Argument, Command } from 'commander';
import * as z from 'zod';
import type { JsonObject, JsonValue } from '../../../schemas/json/json-value.js';
import { TAGS } from '../../api/openapi/tags.js';
import type { OperatorAnswer } from '../../api/panel/call-as-operator.js';
import { PANEL_OPERATIONS } from '../../api/panel/operations.js';
import type { PanelRoute } from '../../api/panel/serve-panel.js';
import type { Operation } from '../../api/server/operation.js';
import { CommandError, EXIT, jsonCommand, uuid, wholeNumber } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import type { CallValues } from './call.js';
import { argumentOf, type Field, fieldsOf, inputOf, jsonOf, optionsOf } from './fields.js';

/** The operations that an operator can call, each with its command. */
const OPERATIONS = PANEL_OPERATIONS.filter(({ isForUsers }) => isForUsers !== true).map((operation) => ({
  operation,
  ...commandName(operation),
}));

/** Whether operations are in this group of commands. */
export function hasGroup(name: string): boolean {
  return OPERATIONS.some(({ group }) => group === name);
}

/**
 * Adds a command for each operation of the panel to `admin`. Commands that already exist, written by hand, take
 * precedence.
 * @param only the group whose commands are added, or undefined for all
 */
export function addOperations(admin: Command, context: CliContext, only: string | undefined): void {
  const byHand = new Map(admin.commands.map((command) => [command.name(), command]));
  for (const { group, name, operation } of OPERATIONS) {
    if ((only ?? group) !== group || byHand.get(group)?.commands.length === 0) continue;
    const parent = admin.commands.find((one) => one.name() === group) ?? newGroup(admin, group, operation.tag);
    if (parent.commands.some((one) => one.name() === name)) continue;
    parent.addCommand(operationCommand(context, operation));
  }
}

function newGroup(admin: Command, name: string, tag: string): Command {
  const group = new Command(name).description(sentence(TAGS[tag] ?? tag));
  admin.addCommand(group);
  return group;
}

/** A command of an operation: its fields are arguments and options. */
function operationCommand(context: CliContext, operation: PanelRoute): Command {
  const { group, name } = commandName(operation);
  const fields = operationFields(operation, group);
  const summary = sentence(operation.summary);
  const about = operation.description === undefined ? '' : `\n\n${operation.description}`;
  const command = jsonCommand(name, summary + about).summary(summary);
  for (const field of fields.arguments) {
    const argument = new Argument(`<${field.word}>`, field.description);
    command.addArgument(argument.argParser((text: string) => argumentOf(field, text)));
  }
  for (const option of [...fields.containers, ...fields.query, ...fields.body].flatMap(optionsOf)) {
    command.addOption(option);
  }
  if (fields.hasTenant) command.option('--tenant <id>', fields.isList ? 'Only this tenant.' : 'The tenant.', uuid);
  if (fields.isList) command.option('--limit <items>', 'Maximum number of items; by default, all.', wholeNumber(1));
  if (fields.body.length > 0)
    command
      .option('--body <json>', 'The body as JSON, to which the other options are added.')
      .addHelpText('after', FILES_HELP);
  if (operation.download !== undefined) command.option('--output <file>', 'File to write; it must not exist.');
  return command.action(async () => {
    const options = Options.parse(command.opts());
    const values = await valuesOf(command, fields);
    // The installation takes long to load.
    const { call, callList, jsonOfAnswer } = await import('./call.js');
    await withInstallation(context, async (installation) => {
      if (operation.download !== undefined) return save(context, options, await call(installation, operation, values));
      const answer = fields.isList
        ? await callList(installation, operation, values, options.limit)
        : await jsonOfAnswer(await call(installation, operation, values));
      print(context, options, answer, linesOf(answer));
    });
  });
}

const FILES_HELP = `
A value @file is the text of the file, and base64:@file is its content in base64.`;

const Options = z.object({
  json: z.boolean().optional(),
  limit: z.number().catch(Number.POSITIVE_INFINITY),
  output: z.string().optional(),
  body: z.string().optional(),
  tenant: z.string().optional(),
});
type Options = z.infer<typeof Options>;

interface OperationFields {
  readonly arguments: readonly Field[];
  /** The containing objects, such as the site, which become options. */
  readonly containers: readonly Field[];
  readonly query: readonly Field[];
  readonly body: readonly Field[];
  readonly isList: boolean;
  /** Whether the path does not say which tenant the call concerns. */
  readonly hasTenant: boolean;
}

function operationFields({ method, params, query, body, response }: PanelRoute, group: string): OperationFields {
  const path = fieldsOf(params);
  const isContainer = ({ name, word }: Field): boolean => name === 'site_id' && group !== word;
  const isList = method === 'get' && response instanceof z.ZodObject && 'next_cursor' in response.shape;
  return {
    arguments: path.filter((field) => !isContainer(field)),
    containers: path.filter(isContainer),
    query: fieldsOf(query).filter(({ name }) => !isList || name !== 'limit'),
    body: fieldsOf(body),
    isList,
    hasTenant: !path.some(({ name }) => ['site_id', 'tenant_id', 'user_id'].includes(name)),
  };
}

async function valuesOf(command: Command, fields: OperationFields): Promise<CallValues> {
  const given: Readonly<Record<string, unknown>> = command.opts();
  const options = Options.parse(given);
  const valuesOfFields = async (wanted: readonly Field[]): Promise<JsonObject> => {
    const found = new Map<string, JsonValue>();
    for (const field of wanted) {
      const value = await inputOf(field, given[attributeOf(field)]);
      if (value !== undefined) found.set(field.name, value);
    }
    return Object.fromEntries(found);
  };
  const body = {
    ...(options.body !== undefined && z.record(z.string(), z.json()).parse(await jsonOf('body', options.body))),
    ...(await valuesOfFields(fields.body)),
  };
  const path = await valuesOfFields(fields.containers);
  const query = await valuesOfFields(fields.query);
  const isMissing = ({ name, isRequired }: Field): boolean =>
    isRequired && ![path, query, body].some((values) => name in values);
  const missing = [...fields.containers, ...fields.query, ...fields.body].filter(isMissing).map(({ word }) => word);
  // A cursor belongs to the list of one tenant.
  const isAnyTenant = fields.isList && !('cursor' in query);
  if (fields.hasTenant && !isAnyTenant && options.tenant === undefined) missing.push('tenant');
  if (missing.length > 0) {
    throw new CommandError(`Give ${missing.map((word) => `--${word}`).join(', ')}.`, EXIT.usage);
  }
  const positional = fields.arguments.map(({ name }, i) => [name, command.processedArgs[i]]);
  return {
    params: Texts.parse({ ...path, ...Object.fromEntries(positional) }),
    query: Texts.parse(query),
    body: fields.body.length > 0 ? body : undefined,
    tenant: options.tenant,
  };
}

/** Path and query consist of texts. */
const Texts = z.record(z.string(), z.coerce.string());

function attributeOf(field: Field): string {
  return optionsOf(field)[0]?.attributeName() ?? '';
}

/** Writes a download to a file or to standard output. */
async function save(context: CliContext, options: Options, { body, contentType }: OperatorAnswer): Promise<void> {
  const { output, json } = options;
  if (output !== undefined) {
    await pipeline(body, createWriteStream(output, { flags: 'wx' }));
    print(context, options, { content_type: contentType, output }, [`Wrote ${output}.`]);
  } else if (json === true) throw new CommandError('Give --output with --json.', EXIT.usage);
  else await pipeline(body, context.stdout, { end: false });
}

/** Rewrites a sentence in the style of command help: it begins in lower case and has no full stop. */
function sentence(text: string): string {
  return text.replace(/^[A-Z](?=[a-z ])/, (letter) => letter.toLowerCase()).replace(/\.$/, '');
}

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

const Objects = z.array(z.record(z.string(), z.json()));

/** Formats a response as text: a list as a table of its items, anything else as one line per member. */
export function linesOf({ data, ...further }: JsonObject): readonly string[] {
  const list = Objects.safeParse(data);
  const { next_cursor: cursor, ...others } = further;
  const rest = Object.keys(others).length === 0 ? [] : membersOf(others);
  const more = typeof cursor === 'string' ? [`There are more: --cursor ${cursor}`] : [];
  if (list.success) return [...(list.data.length === 0 ? ['There are none.'] : tableOf(list.data)), ...rest, ...more];
  const one = z.record(z.string(), z.json()).safeParse(data);
  return [...(one.success ? membersOf(one.data) : [shown(data)]), ...rest];
}

function membersOf(object: JsonObject): readonly string[] {
  const width = Math.max(...Object.keys(object).map((name) => name.length));
  return Object.entries(object).map(([name, value]) => `${name.padEnd(width)}  ${shown(value)}`);
}

function tableOf(items: readonly JsonObject[]): readonly string[] {
  const names = [...new Set(items.flatMap((item) => Object.keys(item)))];
  const rows = [names, ...items.map((item) => names.map((name) => shown(item[name])))];
  const widths = names.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0)));
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

function shown(value: JsonValue | undefined): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'string' ? value : JSON.stringify(value);
}
