import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import * as z from 'zod';

const TEMPLATE = new URL('../../../docs/examples/tag-manager/consent-ledger.tpl', import.meta.url);

const Value: z.ZodType<unknown> = z.lazy(() =>
  z
    .union([
      z.strictObject({ type: z.literal(1), string: z.string() }).transform(({ string }) => string),
      z.strictObject({ type: z.literal(2), listItem: z.array(Value) }).transform(({ listItem }) => listItem),
      z
        .strictObject({ type: z.literal(3), mapKey: z.array(Value), mapValue: z.array(Value) })
        .transform(({ mapKey, mapValue }) => Object.fromEntries(mapKey.map((key, i) => [key, mapValue[i]]))),
      z.strictObject({ type: z.literal(8), boolean: z.boolean() }).transform(({ boolean }) => boolean),
    ])
    .pipe(z.unknown()),
);
const Permissions = z.array(
  z
    .looseObject({
      instance: z.strictObject({
        key: z.strictObject({ publicId: z.string(), versionId: z.literal('1') }),
        param: z.array(z.strictObject({ key: z.string(), value: Value })),
      }),
    })
    .transform(({ instance }) => [instance.key.publicId, instance.param[0]?.value] as const),
);
const Tests = z.strictObject({
  scenarios: z.array(z.strictObject({ name: z.string(), code: z.string() })),
  setup: z.string(),
});
const Parameter = z.looseObject({ type: z.string(), name: z.string() });

/** The template for Google Tag Manager, by its sections. */
export interface TagTemplate {
  readonly info: Readonly<Record<string, unknown>>;
  readonly parameters: readonly z.infer<typeof Parameter>[];
  readonly code: string;
  /** What each permission covers, by its name. */
  readonly permissions: Readonly<Record<string, unknown>>;
  readonly tests: z.infer<typeof Tests>;
}

/** Reads the template. @throws ZodError if a section does not have the form that Google's editor writes */
export async function readTemplate(): Promise<TagTemplate> {
  const parts = (await readFile(TEMPLATE, 'utf8')).split(/^___([A-Z_]+)___$/m);
  const section = (name: string): string => z.string().parse(parts[parts.indexOf(name) + 1]);
  return {
    info: z.looseObject({}).parse(JSON.parse(section('INFO'))),
    parameters: z.array(Parameter).parse(JSON.parse(section('TEMPLATE_PARAMETERS'))),
    code: section('SANDBOXED_JS_FOR_WEB_TEMPLATE'),
    permissions: Object.fromEntries(Permissions.parse(JSON.parse(section('WEB_PERMISSIONS')))),
    tests: Tests.parse(parse(section('TESTS'))),
  };
}

/** What the sandbox hides: a template has `require` and `data` alone, and the methods of its own values. */
export const HIDDEN =
  'window,self,globalThis,document,location,navigator,console,setTimeout,fetch,Object,Array,JSON,Math,Date,Number,String,Boolean,RegExp,Promise,Map,Set,Symbol,Reflect,Proxy,Error'.split(
    ',',
  );

/**
 * A script that runs the template as a container of Google Tag Manager does, with the APIs that it requires and
 * within its permissions. It stands for Google's runtime, which is not public. What the template states about
 * consent is in `stated` of the page, in order, and in the data layer are its events.
 * @param data what the owner entered in the fields of the tag
 * @param nonce of the scripts that it injects
 */
export function containerScript(template: TagTemplate, data: Readonly<Record<string, unknown>>, nonce: string): string {
  return `window.stated = []; window.tagResult = 'running';
{
  const permissions = ${JSON.stringify(template.permissions)};
  const permit = (isPermitted, what) => { if (isPermitted !== true) throw new Error('no permission: ' + what); };
  const isGlobal = (path, right) => permissions.access_globals.some((one) => one.key === path && one[right]);
  const states = (kind) => (given) => {
    for (const type of Object.keys(given)) if (type !== 'region' && type !== 'wait_for_update')
      permit(permissions.access_consent.some((one) => one.consentType === type && one.write), type);
    stated.push([kind, given]);
  };
  const apis = {
    setDefaultConsentState: states('default'),
    updateConsentState: states('update'),
    makeNumber: Number,
    createQueue: (name) => {
      permit(isGlobal(name, 'read') && isGlobal(name, 'write'), name);
      window[name] ??= [];
      return (item) => window[name].push(item);
    },
    callInWindow: (path, ...given) => {
      permit(isGlobal(path, 'execute'), path);
      const names = path.split('.');
      const last = names.pop();
      return names.reduce((object, name) => object[name], window)[last](...given);
    },
    injectScript: (url, onSuccess, onFailure) => {
      const path = new URL(url).pathname;
      permit(permissions.inject_script.some((pattern) => pattern === 'https://*' + path), url);
      const script = document.createElement('script');
      Object.assign(script, { async: true, src: url, nonce: ${JSON.stringify(nonce)}, onload: onSuccess, onerror: onFailure });
      document.head.append(script);
    },
  };
  const required = (name) => { if (apis[name] === undefined) throw new Error('no API ' + name); return apis[name]; };
  const given = { ...${JSON.stringify(data)}, gtmOnSuccess: () => { tagResult = 'success'; }, gtmOnFailure: () => { tagResult = 'failure'; } };
  ((require, data, ${HIDDEN}) => { 'use strict'; ${template.code} })(required, given);
}`;
}
