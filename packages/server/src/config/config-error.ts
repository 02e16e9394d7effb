/** A fault in the configuration: one clear line that names the key, the value, where it came from, and what is allowed. */
export class ConfigError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'ConfigError';
  }
}
