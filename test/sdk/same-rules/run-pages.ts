// Runs the rules, and random sequences, with the SDKs for pages and for React: `node <bundle> <count> <seed>`. A program
// of its own, because React reads the globals of its process when it is loaded.
import { conformance, sameAs } from '../../../sdk/conformance/src/index.js';
import { appAdapter } from './app-adapter.js';
import { pageAdapter, reactAdapter } from './page-adapters.js';

console.warn = () => undefined;
console.error = () => undefined;

const [count = 0, seed = 0] = process.argv.slice(2).map(Number);
for (const { run } of conformance()) for (const adapter of [pageAdapter, reactAdapter]) await run(adapter);
const { run } = sameAs(pageAdapter, { count, seed });
for (const adapter of [reactAdapter, appAdapter]) await run(adapter);
const { user, system } = process.cpuUsage();
console.log(
  `${conformance().length} rules, ${count} sequences of seed ${seed} in ${Math.round((user + system) / 1e6)} s of processor time`,
);
