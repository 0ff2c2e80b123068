import { cpus, release, totalmem } from 'node:os';

const GIB = 2 ** 30;

/** Returns the machine and the software that the figures were measured on. */
export function machineFacts(): string[] {
  const processors = cpus();
  return [
    `Machine: ${processors.length} × ${processors[0]?.model ?? 'unknown processor'}, ${Math.round(totalmem() / GIB)} GiB, ` +
      `${process.platform} ${release()}, Node ${process.version}`,
    'Load generator, service and PostgreSQL are processes of their own on this machine.',
  ];
}
