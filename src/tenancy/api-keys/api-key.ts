export interface ApiKey {
  readonly id: string;
  readonly siteId: string;
  readonly scope: 'read' | 'write';
}
