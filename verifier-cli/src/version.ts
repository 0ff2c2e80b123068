/** Version of the verifier; `package.json` states the same. */
export const VERSION = '0.1.0';
