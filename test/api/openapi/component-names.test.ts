import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { panelDescription, toolApiDescription } from '../../../src/api/openapi/descriptions.js';

const Document = z.object({ components: z.object({ schemas: z.record(z.string(), z.unknown()) }) });

/**
 * Keywords, in any case, because generators name files, packages and variables after components: those of ECMAScript
 * and TypeScript, C# 14 (also contextual ones), Java 21, Python 3.13 and Go 1.24.
 */
const KEYWORDS = `
abstract add alias allows and any arguments as asserts assert async await base bigint bool boolean break by byte case
catch chan char checked class const continue debugger decimal declare def default defer del delegate delete descending
do double dynamic elif else enum equals eval event except exec explicit export exports extends extension extern
fallthrough false field file final finally fixed float for foreach from func function get global go goto group if
implements implicit import in infer init instanceof int interface internal into is join keyof lambda let lock long
managed map module namespace native never new nil none nonlocal not notnull null number object of on open opens
operator or orderby out override package params partial pass permits private protected provides public raise range
readonly record ref remove require required return sbyte scoped sealed select set short sizeof stackalloc static
strictfp string struct super switch symbol synchronized this throw throws to transient transitive true try type typeof
uint ulong unchecked undefined union unique unknown unmanaged unsafe ushort using uses value var virtual void volatile
when where while with yield`;

/** What a file of Java, C#, Python or Go sees without an import, or by one that its generators write. */
const TAKEN = `
AbstractMethodError Any Appendable Array ArrayList Attribute AutoCloseable BaseException Boolean Buffer Byte Callable
Character CharSequence Class ClassLoader ClassVar Cloneable Collection Comparable Compiler Console Context Convert Date
DateOnly DateTime DateTimeOffset Decimal Delegate Deprecated Dict Double Ellipsis Enum Environment Error Event EventArgs
Exception Float Final FunctionalInterface Func Generic Guid HashMap HttpClient IList Index Integer Iterable Iterator
Lazy LinkedHashMap List Literal Locale Long Mapping Math Module Never None NotImplemented Nullable Number Object Objects
Optional Override Package Path Process ProcessBuilder Progress Protocol Random Range Readable Record Request Response
Runnable Runtime SafeVarargs Scanner Self Sequence Set Short Single Span Stream StrictMath String StringBuffer
StringBuilder SuppressWarnings System Task Thread ThreadGroup ThreadLocal Throwable TimeOnly TimeSpan Timer Timestamp
Tuple Type UUID Union Unset Uri Url Version Void Warning`;

const wordsOf = (text: string): readonly string[] => text.trim().split(/\s+/);

/** The global types and values of ECMAScript and of browsers, as TypeScript declares them. */
function globalsOfTypeScript(): ReadonlySet<string> {
  const require = createRequire(new URL('client/package.json', import.meta.url));
  const folder = dirname(require.resolve('typescript'));
  const libraries = readdirSync(folder).filter((name) =>
    /^lib\.(?:es\d+|esnext|dom|decorators)\b.*\.d\.ts$/.test(name),
  );
  const texts = libraries.map((name) => readFileSync(join(folder, name), 'utf8'));
  const declarations = texts.flatMap((text) => [
    ...text.matchAll(/^(?:declare )?(?:interface|type|var|class|function|namespace) (\w+)/gm),
  ]);
  return new Set(declarations.map(([, name = '']) => name));
}

it('names each component as no generated client of TypeScript, C#, Java, Python or Go can misread', () => {
  const keywords = new Set(wordsOf(KEYWORDS));
  const taken = new Set([...wordsOf(TAKEN), ...globalsOfTypeScript()]);
  expect(taken).toContain('Promise');
  const names = [panelDescription(), toolApiDescription()].flatMap((document) =>
    Object.keys(Document.parse(document).components.schemas),
  );
  expect(names.filter((name) => taken.has(name) || keywords.has(name.toLowerCase()))).toEqual([]);
});

it('gives no two components of a document names that differ in their case alone', () => {
  for (const document of [panelDescription(), toolApiDescription()]) {
    const names = Object.keys(Document.parse(document).components.schemas).map((name) => name.toLowerCase());
    expect(new Set(names).size).toBe(names.length);
  }
});
