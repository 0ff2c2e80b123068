import { isDeepStrictEqual } from 'node:util';
import { describe, expect, test } from 'vitest';
import { HIDDEN, readTemplate } from './tag-template.js';

const template = await readTemplate();

/** Runs a scenario of the template's own tests, with the functions that Google's editor has for them. */
function play(code: string): void {
  const mocks = new Map<string, unknown>();
  const called: string[] = [];
  const given = { gtmOnSuccess: () => called.push('gtmOnSuccess'), gtmOnFailure: () => called.push('gtmOnFailure') };
  const apis: Readonly<Record<string, unknown>> = { makeNumber: Number };
  const required = (name: string): unknown => mocks.get(name) ?? apis[name] ?? (() => undefined);
  const run = new Function('require', 'data', ...HIDDEN, `'use strict'; ${template.code}`);
  const editor = {
    mock: (name: string, value: unknown) => mocks.set(name, value),
    runCode: (data: object) => run(required, { ...data, ...given }),
    assertThat: (value: unknown) => ({
      isEqualTo: (wanted: unknown) => {
        if (!isDeepStrictEqual(value, wanted)) expect(value).toEqual(wanted);
      },
    }),
    assertApi: (name: string) => ({ wasCalled: () => expect(called).toContain(name) }),
  };
  new Function(...Object.keys(editor), `${template.tests.setup}\n${code}`)(...Object.values(editor));
}

describe('the template for Google Tag Manager', () => {
  for (const { name, code } of template.tests.scenarios) test(name, () => play(code));

  test('is a tag for web containers, and asks for no permission that its code does not use', () => {
    expect(template.info).toMatchObject({ type: 'TAG', containerContexts: ['WEB'], displayName: 'Consent Ledger' });
    expect(Object.keys(template.permissions)).toEqual(['access_consent', 'access_globals', 'inject_script']);
    expect(template.permissions.inject_script).toEqual(['https://*/sdk/tag-manager.js']);
  });

  test('every field is read by the code', () => {
    const names = template.parameters.flatMap(({ name, subParams }) =>
      Array.isArray(subParams) ? subParams.map((one: { name: string }) => one.name) : [name],
    );
    for (const name of names.filter((one) => one !== 'defaultLabel')) expect(template.code).toContain(`data.${name}`);
  });
});
