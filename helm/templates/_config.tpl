{{/* What the chart reads of the gateway's configuration; defaults are the gateway's. */}}
{{- define "gateway.port" -}}
{{- ((.Values.config).listen).port | default 8080 | int -}}
{{- end -}}

{{- define "gateway.opsPort" -}}
{{- ((.Values.config).ops).port | default 9464 | int -}}
{{- end -}}

{{- define "gateway.path" -}}
{{- ((.Values.config).listen).path | default "/mcp" -}}
{{- end -}}

{{/* Empty where there is no admin listener, or one that only the pod itself can reach. */}}
{{- define "gateway.adminPort" -}}
{{- with (.Values.config).admin -}}
{{- if not (include "gateway.isLoopback" .host) -}}{{ int .port }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* A host that is not given is the gateway's default, 127.0.0.1. */}}
{{- define "gateway.isLoopback" -}}
{{- $host := . | default "127.0.0.1" -}}
{{- if or (hasPrefix "127." $host) (has $host (list "localhost" "[::1]")) -}}true{{- end -}}
{{- end -}}

{{- define "gateway.scheme" -}}
{{- ternary "https" "http" (not (empty ((.Values.config).listen).tls)) -}}
{{- end -}}

{{/* The host clients send: that of auth.resource, without port. */}}
{{- define "gateway.publicHost" -}}
{{- $resource := ((.Values.config).auth).resource | default "" -}}
{{- (urlParse $resource).hostname -}}
{{- end -}}

{{/* A Host the gateway takes: the first of `hosts`, or the public one. */}}
{{- define "gateway.takenHost" -}}
{{- $first := first (.Values.config.hosts | default (list "*")) -}}
{{- ternary (include "gateway.publicHost" .) $first (eq $first "*") -}}
{{- end -}}

{{/* Hosts as a JSON list: those given, or the public one. Takes a list: the root, the key, for the sentence, and the hosts. */}}
{{- define "gateway.hosts" -}}
{{- $own := include "gateway.publicHost" (index . 0) -}}
{{- if index . 2 -}}
{{- toJson (index . 2) -}}
{{- else if or (not $own) (contains "$" $own) -}}
{{- fail (printf "%s is empty, and config.auth.resource shows no host to take in its place" (index . 1)) -}}
{{- else -}}
{{- toJson (list $own) -}}
{{- end -}}
{{- end -}}
