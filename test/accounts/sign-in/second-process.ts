import { pino } from 'pino';
import { type Service, startApi } from '../../../src/app/start-service.js';
import { loadConfig } from '../../../src/platform/config/index.js';
import type { RunningApp } from '../../api/server/running-app.js';

/** Starts a second API process that shares only the database and the master key. */
export function startSecondProcess({ service }: RunningApp): Promise<Service> {
  const { databaseUrl, config } = service.installation;
  return startApi(
    loadConfig({ DATABASE_URL: databaseUrl, DATA_DIR: config.dataDir, PORT: '0' }),
    pino({ level: 'silent' }),
  );
}
