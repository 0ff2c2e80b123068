import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Deployment, StatefulSet } from 'kubernetes-models/apps/v1';
import { Job } from 'kubernetes-models/batch/v1';
import { Ingress as KubernetesIngress, NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1';
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1';
import { Namespace, PersistentVolumeClaim, Service, ServiceAccount } from 'kubernetes-models/v1';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { PLACES } from '../../src/api/discovery/places.js';
import { loadConfig } from '../../src/platform/config/index.js';
import { variables } from '../../src/platform/config/variables.js';

const FOLDER = new URL('../../ops/kubernetes/', import.meta.url);
const read = (path: string): string => readFileSync(fileURLToPath(new URL(path, FOLDER)), 'utf8');

const Labels = z.record(z.string(), z.string());
const Probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.literal('http') }),
  periodSeconds: z.number(),
  failureThreshold: z.number(),
});
const Mount = z.object({ name: z.string(), mountPath: z.string(), readOnly: z.boolean().optional() });
const Container = z.object({
  image: z.literal('consent-ledger'),
  args: z.array(z.string()),
  ports: z.array(z.object({ name: z.string(), containerPort: z.number() })).default([]),
  envFrom: z.array(
    z.union([
      z.object({ configMapRef: z.object({ name: z.string() }) }),
      z.object({ secretRef: z.object({ name: z.string() }) }),
    ]),
  ),
  livenessProbe: Probe.optional(),
  readinessProbe: Probe.optional(),
  securityContext: z.record(z.string(), z.unknown()),
  volumeMounts: z.array(Mount),
});
const Pod = z.object({
  metadata: z.object({ labels: Labels }),
  spec: z.object({
    automountServiceAccountToken: z.literal(false),
    terminationGracePeriodSeconds: z.number().optional(),
    securityContext: z.record(z.string(), z.unknown()),
    containers: z.tuple([Container]),
    volumes: z.array(z.object({ name: z.string() }).loose()),
  }),
});
const Resource = z.object({ kind: z.string(), metadata: z.object({ name: z.string() }), spec: z.unknown().optional() });
const Workload = z.object({ replicas: z.number().optional(), template: Pod });
const Budget = z.object({ maxUnavailable: z.number(), selector: z.object({ matchLabels: Labels }) });
const Ingress = z.object({
  rules: z.tuple([
    z.object({
      http: z.object({
        paths: z.array(
          z.object({
            path: z.string(),
            pathType: z.enum(['Exact', 'Prefix']),
            backend: z.object({ service: z.object({ name: z.string() }) }),
          }),
        ),
      }),
    }),
  ]),
});

const { resources: files } = z.object({ resources: z.array(z.string()) }).parse(parse(read('base/kustomization.yaml')));
const resources = [...files.map((name) => `base/${name}`), 'migrate/job.yaml'].flatMap((file) =>
  parseAllDocuments(read(file)).map((document) => Resource.parse(document.toJS())),
);
const named = (kind: string, name: string): unknown => {
  const found = resources.find((resource) => resource.kind === kind && resource.metadata.name === name);
  if (found === undefined) throw new Error(`there is no ${kind} ${name}`);
  return found.spec;
};
const workload = (kind: string, name: string) => {
  const { replicas, template } = Workload.parse(named(kind, name));
  return { replicas, template, pod: template.spec, container: template.spec.containers[0] };
};
const settings = Object.fromEntries(
  read('base/settings.env')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const at = line.indexOf('=');
      return [line.slice(0, at), line.slice(at + 1)];
    }),
);
const config = loadConfig({ ...settings, DATABASE_URL: 'postgresql://ledger@db/consent_ledger' });

describe.each([
  ['Deployment', 'api'],
  ['Deployment', 'worker'],
  ['Job', 'migrate'],
] as const)('the %s %s', (kind, name) => {
  const { pod, container } = workload(kind, name);

  it('satisfies the pod security standard "restricted", and can write to its volumes only', () => {
    expect(pod.securityContext).toMatchObject({
      runAsNonRoot: true,
      seccompProfile: { type: 'RuntimeDefault' },
    });
    // OpenShift assigns it, and the image has one.
    expect(pod.securityContext).not.toHaveProperty('runAsUser');
    expect(read('../../Dockerfile')).toContain('USER 1000:1000');
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
  });

  it('runs its role, with a volume for each mount and a mount for each file', () => {
    expect(container.args).toEqual([name, '--json']);
    expect(pod.volumes.map((volume) => volume.name).sort()).toEqual(
      container.volumeMounts.map((mount) => mount.name).sort(),
    );
    const paths = container.volumeMounts.map(({ mountPath }) => mountPath);
    expect(paths).toContain(config.dataDir);
    expect(config.masterKey).toEqual({
      kind: 'file',
      path: `${paths.find((path) => path.endsWith('/keys'))}/master.key`,
    });
  });
});

describe.each(['api', 'worker'])('the Deployment %s', (name) => {
  const { replicas, template, pod, container } = workload('Deployment', name);

  it('has a second pod, which a disruption leaves running', () => {
    expect(replicas).toBe(2);
    const { maxUnavailable, selector } = Budget.parse(named('PodDisruptionBudget', name));
    expect(maxUnavailable).toBe(1);
    expect(selector.matchLabels).toEqual(template.metadata.labels);
  });

  it('is removed from the service before its listener closes, and killed after its last answer', () => {
    const { readinessProbe, livenessProbe } = container;
    expect(readinessProbe?.httpGet.path).toBe('/readyz');
    expect(livenessProbe?.httpGet.path).toBe('/healthz');
    const { lameDuckMs, drainGraceMs } = config.http;
    const noticed = (readinessProbe?.periodSeconds ?? Infinity) * (readinessProbe?.failureThreshold ?? Infinity) * 1000;
    expect(lameDuckMs).toBeGreaterThan(noticed);
    expect((pod.terminationGracePeriodSeconds ?? 0) * 1000).toBeGreaterThan(lameDuckMs + drainGraceMs + 30_000);
  });

  it('listens on its port, with the settings and the secrets', () => {
    expect(container.ports).toEqual([{ name: 'http', containerPort: config.http.port }]);
    expect(config.http.host).toBe('0.0.0.0');
    expect(container.envFrom).toEqual([{ configMapRef: { name: 'settings' } }, { secretRef: { name: 'environment' } }]);
  });
});

it('sets existing variables only', () => {
  for (const name of Object.keys(settings)) expect(Object.keys(variables.shape)).toContain(name);
});

describe('the network policies', () => {
  const Policy = z.object({
    podSelector: z.union([
      z.object({ matchLabels: Labels }),
      z.object({
        matchExpressions: z.tuple([
          z.object({ key: z.string(), operator: z.literal('In'), values: z.array(z.string()) }),
        ]),
      }),
      z.strictObject({}),
    ]),
    policyTypes: z.tuple([z.literal('Ingress')]),
    ingress: z.array(z.object({ ports: z.tuple([z.object({ port: z.string() })]) })).default([]),
  });
  const policy = (name: string) => Policy.parse(named('NetworkPolicy', name));

  it('close every pod, and open the port of those that someone calls', () => {
    expect(policy('closed')).toEqual({ podSelector: {}, policyTypes: ['Ingress'], ingress: [] });
    const { container, template } = workload('Deployment', 'api');
    const ports = [{ port: container.ports[0]?.name }];
    expect(policy('api')).toMatchObject({
      podSelector: { matchLabels: template.metadata.labels },
      ingress: [{ ports }],
    });
    expect(policy('metrics')).toMatchObject({
      podSelector: { matchExpressions: [{ values: ['api', 'worker'] }] },
      ingress: [{ ports }],
    });
  });
});

describe('monitoring', () => {
  it('finds the pods of both roles by their port, with the token of the metrics', () => {
    const { spec } = Resource.parse(parse(read('monitoring/pod-monitor.yaml')));
    expect(spec).toMatchObject({
      selector: { matchExpressions: [{ key: 'app.kubernetes.io/name', values: ['api', 'worker'] }] },
      podMetricsEndpoints: [
        {
          port: 'http',
          path: '/metrics',
          authorization: { credentials: { name: 'environment', key: 'METRICS_TOKEN' } },
        },
      ],
    });
  });
});

const KINDS = [
  'Deployment',
  'Ingress',
  'Job',
  'Namespace',
  'NetworkPolicy',
  'PersistentVolumeClaim',
  'PodDisruptionBudget',
  'Service',
  'ServiceAccount',
  'StatefulSet',
] as const;
/** The published schema of each kind. */
const MODELS: Readonly<Record<(typeof KINDS)[number], new (...input: never[]) => { validate(): void }>> = {
  Deployment,
  Ingress: KubernetesIngress,
  Job,
  Namespace,
  NetworkPolicy,
  PersistentVolumeClaim,
  PodDisruptionBudget,
  Service,
  ServiceAccount,
  StatefulSet,
};
const Kind = z.object({ kind: z.enum(KINDS) }).loose();

it.each([
  'base/api.yaml',
  'base/data.yaml',
  'base/ingress.yaml',
  'base/namespace.yaml',
  'base/network-policy.yaml',
  'base/service-account.yaml',
  'base/worker.yaml',
  'migrate/job.yaml',
  'witness/namespace.yaml',
  'witness/witness.yaml',
])('%s is valid by the published schemas of Kubernetes', (file) => {
  for (const document of parseAllDocuments(read(file))) {
    const resource = Kind.parse(document.toJS());
    const model: { validate(): void } = Reflect.construct(MODELS[resource.kind], [resource]);
    expect(() => model.validate(), resource.kind).not.toThrow();
  }
});

describe('the Ingress', () => {
  const [{ http }] = Ingress.parse(named('Ingress', 'consent-ledger')).rules;
  const leadsTo = (path: string): boolean =>
    http.paths.some((rule) =>
      rule.pathType === 'Exact' ? rule.path === path : path === rule.path || path.startsWith(`${rule.path}/`),
    );

  it('leads to every public path, and to no other part of the service', () => {
    const paths = Object.values(PLACES).map(({ path }) => path);
    for (const path of [...paths, '/tool/v1/consents', '/api/v1/auth/login', '/security.txt'])
      expect(leadsTo(path), path).toBe(true);
    for (const path of ['/metrics', '/healthz', '/readyz']) expect(leadsTo(path), path).toBe(false);
  });

  it('leads to the service api', () => {
    for (const { backend } of http.paths) expect(backend.service.name).toBe('api');
  });
});
