import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Another implementation, asked about many tokens at once. */
export interface Judge {
  /** Why it cannot be asked here; null if it can. */
  readonly missing: string | null;
  /**
   * @param folders each with `response.tsr`, `data`, `root.der`, `root.pem`
   * @param genTimes seconds since 1970, of the same tokens
   * @returns `pass`, or `fail` and why
   */
  judge(folders: readonly string[], genTimes: readonly number[]): readonly string[];
}

const sources = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const has = (program: string, ...args: readonly string[]) => spawnSync(program, args).status === 0;
const lines = (text: string) => text.trimEnd().split('\n');

export function opensslJudge(): Judge {
  return {
    missing: has('openssl', 'version') ? null : 'the openssl command is not there',
    judge: (folders, genTimes) =>
      folders.map((folder, i) => {
        const files = [
          '-data',
          join(folder, 'data'),
          '-in',
          join(folder, 'response.tsr'),
          '-CAfile',
          join(folder, 'root.pem'),
        ];
        const args = ['ts', '-verify', ...files, '-attime', String(genTimes[i])];
        const { status, stderr } = spawnSync('openssl', args, { encoding: 'utf8' });
        return status === 0 ? 'pass' : `fail ${stderr.replaceAll(/\s+/g, ' ')}`;
      }),
  };
}

const JARS = ['bcprov', 'bcpkix', 'bcutil'].map((name) => `/usr/share/java/${name}.jar`);

/** @param folder for what is compiled */
export function bouncyCastleJudge(folder: string): Judge {
  const missing = JARS.every(existsSync)
    ? has('javac', '-version')
      ? null
      : 'javac is not there'
    : 'Bouncy Castle is not there (Debian package libbcpkix-java)';
  return {
    missing,
    judge: (folders) => {
      const path = [folder, ...JARS].join(':');
      execFileSync('javac', ['-nowarn', '-cp', path, '-d', folder, sources('BouncyCastleJudge.java')], {
        stdio: 'pipe',
      });
      return lines(execFileSync('java', ['-cp', path, 'BouncyCastleJudge', ...folders], { encoding: 'utf8' }));
    },
  };
}

const DOTNET_ENVIRONMENT = {
  DOTNET_CLI_TELEMETRY_OPTOUT: '1',
  DOTNET_NOLOGO: '1',
  DOTNET_SKIP_FIRST_TIME_EXPERIENCE: '1',
};

/** @param folder for what is compiled */
export function dotNetJudge(folder: string): Judge {
  const version = spawnSync('dotnet', ['--version'], { encoding: 'utf8' });
  const env = { ...process.env, ...DOTNET_ENVIRONMENT };
  return {
    missing: version.status === 0 && Number.parseInt(version.stdout, 10) >= 10 ? null : '.NET 10 is not there',
    judge: (folders) => {
      mkdirSync(folder, { recursive: true });
      for (const name of ['DotNetJudge.cs', 'DotNetJudge.csproj']) cpSync(sources(name), join(folder, name));
      // Everything that the project needs came with the framework.
      writeFileSync(
        join(folder, 'nuget.config'),
        '<configuration><packageSources><clear /></packageSources></configuration>',
      );
      const build = ['build', '--nologo', '-v', 'q', '-o', 'out'];
      execFileSync('dotnet', build, { cwd: folder, env, stdio: 'pipe' });
      const args = [join(folder, 'out/DotNetJudge.dll'), ...folders];
      return lines(execFileSync('dotnet', args, { encoding: 'utf8', env }));
    },
  };
}
