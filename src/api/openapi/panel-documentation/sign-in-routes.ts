import { SECOND_FACTOR_OPERATIONS } from '../../auth/second-factor.js';
import { AUTH_OPERATIONS } from '../../auth/sign-in.js';
import { SIGN_UP_OPERATIONS } from '../../auth/sign-up.js';

/** @returns a table of the sign-in routes, with example bodies */
export function signInRoutes(): string {
  const rows = [...AUTH_OPERATIONS, ...SECOND_FACTOR_OPERATIONS, ...SIGN_UP_OPERATIONS].map(
    ({ method, path, summary, access, example, body: schema }) => {
      const body = example.body === undefined ? '' : `\`${JSON.stringify(example.body)}\``;
      return `| ${method.toUpperCase()} | \`${path}\` | ${summary} | ${access.roles !== null ? 'access token' : 'none'} | ${body}${example.body !== undefined && schema.safeParse(undefined).success ? ', or none' : ''} |`;
    },
  );
  return `| Method | Path | Summary | Bearer | Body |
|---|---|---|---|---|
${rows.join('\n')}
`;
}
